// Schemas that several routes share: identifiers, error bodies, cached responses. A schema with an $id is a component
// of the API document.
import { type TSchema, Type } from 'typebox'
import { errorCodes, maxFieldProblems } from '../errors.ts'
import { type ErrorShape, scimErrorSchema } from './error-bodies.ts'
import type { ResponseHeader } from './declarations.ts'

/** Returns the schema of a UUID in a body, in upper or lower case. */
export const createUuidSchema = (description: string) =>
  Type.String({ format: 'uuid', title: 'a UUID', description })

/** Returns the schema of an id in a path. A malformed id gets the same response as an unknown one. */
export const createPathIdSchema = (description: string) =>
  Type.String({ description: `${description}, a UUID. A malformed id is treated like an unknown id.` })

const failureFields = {
  code: Type.Enum(errorCodes, { description: 'Error code from a fixed list.' }),
  request_id: Type.String({ description: 'Id from `X-Request-Id`; it identifies the request in the log.' }),
}
const fieldProblem = Type.Object(
  {
    path: Type.String({
      description:
        'Path to the value, such as `callback_url` or `recipients.2`; in GraphQL, the path starts with an argument, such as `input.name`.',
    }),
    message: Type.String({ description: 'The rule that the value breaks.' }),
  },
  { $id: 'FieldProblem' },
)
const fieldProblems = Type.Optional(
  Type.Array(fieldProblem, {
    maxItems: maxFieldProblems,
    description: 'Every value that breaks a rule. The error message is about the first value.',
  }),
)
const messageSchema = Type.String({ description: 'The cause of the error and the remedy.' })
const hintSchema = Type.Optional(
  Type.String({
    description:
      'The violated rule and, if one exists, the setting that allows the value. Present if `message` does not name the rule.',
  }),
)

export const errorSchema = Type.Object(
  { error: messageSchema, ...failureFields, details: fieldProblems },
  { $id: 'Error' },
)

/** Body of a rejection that occurs before an envelope route is reached. It has the fields of both response shapes. */
export const envelopeRefusal = Type.Object(
  { error: messageSchema, success: Type.Literal(false), message: messageSchema, ...failureFields },
  { $id: 'EnvelopeRefusal' },
)

export const graphqlError = Type.Object(
  {
    message: messageSchema,
    path: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Integer()]))),
    extensions: Type.Object({
      ...failureFields,
      fields: fieldProblems,
      objectId: Type.Optional(Type.String({ description: 'With the code CONFLICT: the id of the object.' })),
      currentRevision: Type.Optional(
        Type.Integer({ description: 'With the code CONFLICT: the revision of the object.' }),
      ),
      changedBy: Type.Optional(
        Type.String({
          description:
            'With the code CONFLICT: the person who made the last audited change of the object. Only for callers who may read the audit trail.',
        }),
      ),
    }),
  },
  { $id: 'GraphqlError' },
)
export const graphqlResponse = Type.Object(
  {
    data: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
    errors: Type.Optional(Type.Array(graphqlError)),
    extensions: Type.Optional(
      Type.Object({
        truncatedLists: Type.Array(
          Type.Object({
            path: Type.Array(Type.Union([Type.String(), Type.Integer()])),
            limit: Type.Integer(),
          }),
          {
            description:
              'At most 20 lists that were requested without `pagination` and have more rows than the default page size.',
          },
        ),
      }),
    ),
  },
  { $id: 'GraphqlResponse' },
)

export const errorSchemas = {
  error: errorSchema,
  envelope: Type.Object(
    {
      success: Type.Literal(false),
      message: messageSchema,
      ...failureFields,
      hint: hintSchema,
      details: fieldProblems,
    },
    { $id: 'EnvelopeError' },
  ),
  graphql: graphqlResponse,
  page: Type.String({ $id: 'ErrorPage', description: 'HTML page with the error and the next step.' }),
  scim: Type.Object(
    {
      schemas: Type.Array(Type.Literal(scimErrorSchema)),
      status: Type.String({ description: 'The HTTP status.' }),
      scimType: Type.Optional(
        Type.String({ description: 'Keyword of RFC 7644, section 3.12, such as `invalidFilter`.' }),
      ),
      detail: messageSchema,
    },
    { $id: 'ScimError' },
  ),
  validation: Type.Object(
    { valid: Type.Literal(false), message: messageSchema, ...failureFields, details: fieldProblems },
    { $id: 'ValidationError' },
  ),
} satisfies Record<ErrorShape, TSchema>

/**
 * Returns the schemas of the error responses that every route can return, and of the responses with the given statuses.
 */
export function createErrorResponses<Shape extends ErrorShape, Status extends number>(
  shape: Shape,
  ...statuses: Status[]
): Record<Status | 400 | 500 | 503, (typeof errorSchemas)[Shape]> {
  const entries = [400, ...statuses, 500, 503].map((status) => [status, errorSchemas[shape]])
  return Object.fromEntries(entries) as Record<Status | 400 | 500 | 503, (typeof errorSchemas)[Shape]>
}

/** A 304 has no body. */
export const notModifiedSchema = Type.Null({ description: 'The copy that `If-None-Match` names is current.' })

/** Both statuses of a cached response include its ETag. */
export const cachedHeaders: Record<number, ResponseHeader[]> = { 200: ['ETag'], 304: ['ETag'] }
