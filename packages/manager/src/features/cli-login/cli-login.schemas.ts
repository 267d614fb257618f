// These schemas describe the requests of terminals and browsers, and the responses.
import { Type } from 'typebox'
import { createErrorResponses, errorSchemas } from '../../platform/http/http.schemas.ts'
import { notBlankPattern } from '../../platform/http/validation.ts'

const timestamp = (description: string) => Type.String({ format: 'date-time', description })

export const startSchema = {
  operationId: 'startCliLogin',
  summary: 'Starts a terminal login',
  description:
    'The terminal shows the code and the URL, and polls. The Manager keeps the 1,000 newest pending logins per client address.',
  tags: ['people' as const],
  body: Type.Object({
    public_key: Type.String({
      title: 'an X25519 public key (32 bytes) in base64 or base64url',
      maxLength: 100,
      description:
        'Raw X25519 key in base64 or base64url, with or without padding. Create a new key for each login: the token is encrypted for this key.',
    }),
    token_name: Type.String({
      maxLength: 100,
      pattern: notBlankPattern,
      description: "Token name shown in the owner's token list, for example the machine name.",
    }),
  }),
  response: {
    200: Type.Object({
      session_id: Type.String({ description: 'Secret of the terminal. The Manager returns it only here.' }),
      verification_uri: Type.String({
        format: 'uri',
        description: 'Page on which the person approves or denies the login.',
      }),
      user_code: Type.String({
        description:
          'Code in the format XXXX-XXXX; the person compares the code on the page with the code in the terminal.',
      }),
      interval: Type.Integer({ description: 'Seconds between polls.' }),
      expires_at: timestamp('Expiry time of the login.'),
    }),
    ...createErrorResponses('error'),
  },
}

const waitingState = Type.Object({
  status: Type.Enum(['authorization_pending', 'slow_down'], {
    description: '`slow_down` means that the poll was too early and that the interval is now 5 s longer.',
  }),
  interval: Type.Integer({ description: 'Seconds until the next poll.' }),
})
const endedState = Type.Object({
  status: Type.Enum(['denied', 'expired'], {
    description: '`expired` can also mean that the token was already fetched.',
  }),
})
const approvedState = Type.Object({
  sealed_token: Type.String({
    description: 'Libsodium sealed box with the personal access token, in base64.',
  }),
  token_name: Type.String(),
  expires_at: timestamp('Expiry time of the token.'),
})

export const pollSchema = {
  operationId: 'pollCliLogin',
  summary: 'Returns the state of a terminal login, and the token after approval',
  description: 'Only the first poll after the approval returns the token.',
  tags: ['people' as const],
  body: Type.Object({
    session_id: Type.String({
      maxLength: 200,
      pattern: notBlankPattern,
      description: '`session_id` from the start of the login.',
    }),
  }),
  response: {
    200: Type.Union([waitingState, endedState, approvedState]),
    ...createErrorResponses('error', 404, 429),
  },
}

const page = Type.String({ description: 'HTML page.' })

export const showSchema = {
  operationId: 'showCliLogin',
  summary: 'Shows the page on which a person approves or denies a terminal login',
  description: 'Without a code, the page asks for the code. The request changes nothing.',
  tags: ['people' as const],
  querystring: Type.Object({
    code: Type.Optional(Type.String({ maxLength: 100, description: 'The code that the terminal shows.' })),
  }),
  produces: 'text/html',
  response: { 200: page, 401: errorSchemas.page, ...createErrorResponses('page', 403, 404, 410) },
}

export const decideSchema = {
  operationId: 'decideCliLogin',
  summary: 'Approves or denies a terminal login',
  description: 'Approval creates a personal access token for the person. The terminal fetches the token.',
  tags: ['people' as const],
  consumes: 'application/x-www-form-urlencoded' as const,
  body: Type.Object(
    {
      code: Type.String({
        maxLength: 100,
        pattern: notBlankPattern,
        description: 'The code that the terminal shows.',
      }),
      form_token: Type.String({
        maxLength: 200,
        pattern: notBlankPattern,
        description: 'Form token from the approval page.',
      }),
      decision: Type.Enum(['approve', 'deny'], { title: 'approve or deny' }),
      compared: Type.Optional(
        Type.String({
          maxLength: 10,
          description: '`yes` if the person has compared the code; required to approve.',
        }),
      ),
    },
    { title: 'the fields of the consent form' },
  ),
  produces: 'text/html',
  response: { 200: page, 401: errorSchemas.page, ...createErrorResponses('page', 403, 404, 410) },
}
