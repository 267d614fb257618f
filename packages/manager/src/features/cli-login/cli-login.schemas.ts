// What terminals and browsers send, and the responses.
import { Type } from 'typebox'
import { errorResponses, errorSchemas } from '../../platform/http/http.schemas.ts'
import { notBlank } from '../../platform/http/validation.ts'

const timestamp = (description: string) => Type.String({ format: 'date-time', description })

export const startSchema = {
  operationId: 'startCliLogin',
  summary: 'Begin the login of a terminal',
  description:
    'The terminal shows the code and the address, and polls. An address keeps its 1,000 newest pending logins.',
  tags: ['people' as const],
  body: Type.Object({
    public_key: Type.String({
      title: 'the base64 or base64url of an X25519 public key, 32 bytes',
      maxLength: 100,
      description:
        'Base64 or base64url, with or without padding, of a raw X25519 key that is created for this login. The token is sealed to it.',
    }),
    token_name: Type.String({
      maxLength: 100,
      pattern: notBlank,
      description: 'How the token is called in the list of its owner, such as the name of the machine.',
    }),
  }),
  response: {
    200: Type.Object({
      session_id: Type.String({ description: 'The secret of the terminal; it is shown to nobody else.' }),
      verification_uri: Type.String({ format: 'uri', description: 'Where the person decides.' }),
      user_code: Type.String({ description: 'What the person compares, XXXX-XXXX.' }),
      interval: Type.Integer({ description: 'Seconds between two polls.' }),
      expires_at: timestamp('The end of the login.'),
    }),
    ...errorResponses('error'),
  },
}

const waiting = Type.Object({
  status: Type.Enum(['authorization_pending', 'slow_down'], {
    description: '`slow_down`: the poll came too early, and the interval is five seconds longer from now on.',
  }),
  interval: Type.Integer({ description: 'Seconds until the next poll.' }),
})
const ended = Type.Object({
  status: Type.Enum(['denied', 'expired'], {
    description: '`expired` also when the token was fetched before.',
  }),
})
const approved = Type.Object({
  sealed_token: Type.String({
    description: 'Base64 of a libsodium sealed box with the personal access token.',
  }),
  token_name: Type.String(),
  expires_at: timestamp('The end of the token.'),
})

export const pollSchema = {
  operationId: 'pollCliLogin',
  summary: 'Ask what became of the login of a terminal',
  description: 'The first poll after the approval gets the token, and no other one does.',
  tags: ['people' as const],
  body: Type.Object({
    session_id: Type.String({
      maxLength: 200,
      pattern: notBlank,
      description: 'As the start of the login answered it.',
    }),
  }),
  response: { 200: Type.Union([waiting, ended, approved]), ...errorResponses('error', 404, 429) },
}

const page = Type.String({ description: 'HTML.' })

export const showSchema = {
  operationId: 'showCliLogin',
  summary: 'The page on which a person decides about the login of a terminal',
  description: 'Without a code it asks for one. It changes nothing.',
  tags: ['people' as const],
  querystring: Type.Object({
    code: Type.Optional(Type.String({ maxLength: 100, description: 'The code of the terminal.' })),
  }),
  produces: 'text/html',
  response: { 200: page, 401: errorSchemas.page, ...errorResponses('page', 403, 404, 410) },
}

export const decideSchema = {
  operationId: 'decideCliLogin',
  summary: 'What the person has decided',
  description: 'Approving makes a personal access token of theirs, which the terminal fetches.',
  tags: ['people' as const],
  consumes: 'application/x-www-form-urlencoded' as const,
  body: Type.Object(
    {
      code: Type.String({ maxLength: 100, pattern: notBlank, description: 'The code of the terminal.' }),
      form_token: Type.String({ maxLength: 200, pattern: notBlank, description: 'As the page has it.' }),
      decision: Type.Enum(['approve', 'deny'], { title: 'approve or deny' }),
      compared: Type.Optional(
        Type.String({
          maxLength: 10,
          description: '`yes` when the person has compared the code; needed to approve.',
        }),
      ),
    },
    { title: 'the form of the page' },
  ),
  produces: 'text/html',
  response: { 200: page, 401: errorSchemas.page, ...errorResponses('page', 403, 404, 410) },
}
