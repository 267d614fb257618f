// Schemas that several routes share: identifiers, error bodies, cached responses. A schema with an $id is a component
// of the API document.
import { type TSchema, Type } from 'typebox'
import { errorCodes } from '../errors.ts'
import type { ErrorShape } from './error-bodies.ts'
import type { ResponseHeader } from './declarations.ts'

/** Returns the schema of a UUID in a body, in upper or lower case. */
export const uuid = (description: string) => Type.String({ format: 'uuid', title: 'a UUID', description })

/** Returns the schema of an id in a path: the response to a malformed id is the same as to an unknown one. */
export const idInPath = (description: string) =>
  Type.String({ description: `${description}, a UUID. A malformed id is treated like an unknown id.` })

const failure = {
  code: Type.Enum(errorCodes, { description: 'Error code from a fixed list.' }),
  request_id: Type.String({ description: 'Id from `X-Request-Id`; it identifies the request in the log.' }),
}
const message = Type.String({ description: 'Explanation of the error and its remedy.' })
const hint = Type.Optional(
  Type.String({
    description: 'Rule that rejected the request and the way to allow it. Sent if `message` is a fixed text.',
  }),
)

export const errorSchema = Type.Object({ error: message, ...failure }, { $id: 'Error' })

/** Body of a rejection before an envelope route is reached: it has the fields of both shapes. */
export const envelopeRefusal = Type.Object(
  { error: message, success: Type.Literal(false), message, ...failure },
  { $id: 'EnvelopeRefusal' },
)

export const graphqlError = Type.Object(
  {
    message,
    path: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Integer()]))),
    extensions: Type.Object(failure),
  },
  { $id: 'GraphqlError' },
)
export const graphqlResponse = Type.Object(
  {
    data: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
    errors: Type.Optional(Type.Array(graphqlError)),
  },
  { $id: 'GraphqlResponse' },
)

export const errorSchemas = {
  error: errorSchema,
  envelope: Type.Object(
    { success: Type.Literal(false), message, ...failure, hint },
    { $id: 'EnvelopeError' },
  ),
  graphql: graphqlResponse,
  page: Type.String({ $id: 'ErrorPage', description: 'HTML page with the error and the next step.' }),
  validation: Type.Object({ valid: Type.Literal(false), message, ...failure }, { $id: 'ValidationError' }),
} satisfies Record<ErrorShape, TSchema>

/**
 * Returns the error responses that every route has and those that this route adds, in the shape of its error bodies.
 */
export function errorResponses<Shape extends ErrorShape, Status extends number>(
  shape: Shape,
  ...statuses: Status[]
): Record<Status | 400 | 500 | 503, (typeof errorSchemas)[Shape]> {
  const every = [400, ...statuses, 500, 503].map((status) => [status, errorSchemas[shape]])
  return Object.fromEntries(every) as Record<Status | 400 | 500 | 503, (typeof errorSchemas)[Shape]>
}

/** A 304 has no body. */
export const notModified = Type.Null({ description: 'The copy named in `If-None-Match` is current.' })

/** Both statuses of a cached response carry its ETag. */
export const cachedHeaders: Record<number, ResponseHeader[]> = { 200: ['ETag'], 304: ['ETag'] }
