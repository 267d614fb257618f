// What the export of the trail takes and returns.
import { Type } from 'typebox'
import { chainSchema } from '../../platform/http/chain.schemas.ts'
import { errorResponses, uuid } from '../../platform/http/http.schemas.ts'

const exact = (what: string) =>
  Type.Optional(
    Type.String({ maxLength: 200, title: 'at most 200 characters', description: `Only rows ${what}.` }),
  )
const timestamp = (description: string) => Type.Optional(Type.String({ maxLength: 64, description }))
const textOrNull = Type.Union([Type.String(), Type.Null()])

const entry = Type.Object(
  {
    chain_id: uuid('The project, or the nil UUID for what belongs to no project.'),
    seq: Type.Integer({ description: 'Position in the chain, counted from 1 without gaps.' }),
    id: uuid('The row.'),
    entity_type: Type.String(),
    entity_id: Type.String(),
    action: Type.String(),
    description: Type.String(),
    metadata: Type.Object({}, { additionalProperties: true }),
    changes: Type.Object({}, { additionalProperties: true, description: 'Field to `{before, after}`.' }),
    form: Type.Integer({ description: 'Which fields the hash covers.' }),
    principal_type: textOrNull,
    principal_id: textOrNull,
    user_id: Type.Union([uuid('The user who made the change.'), Type.Null()]),
    ip_address: Type.String(),
    user_agent: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    prev_hash: Type.String({ description: '`hash` of the row before it in the chain.' }),
    hash: Type.String({ description: 'SHA-256 over the canonical JSON of the row, in hex.' }),
  },
  { $id: 'AuditEntry' },
)

export const exportSchema = {
  operationId: 'exportAuditTrail',
  summary: 'The audit trail, of one project or of all',
  description:
    'By chain, then by position, as a stream of one moment: a connection that ends before the body does was cut by a failure. NDJSON ends with a signed line `{"export": …}`. At most a few exports run at once; further ones are answered 503.',
  tags: ['people' as const],
  querystring: Type.Object({
    from: timestamp('Only rows of this time or later, RFC 3339.'),
    to: timestamp('Only rows from before this time, RFC 3339.'),
    project_id: Type.Optional(Type.String({ description: 'Only the chain of this project.' })),
    entity_type: exact('about this kind of thing'),
    entity_id: exact('about this thing'),
    action: exact('of this action'),
    user_id: Type.Optional(Type.String({ description: 'Only what this user did.' })),
    format: Type.Optional(Type.Enum(['json', 'ndjson', 'csv'], { title: 'json, ndjson or csv' })),
    limit: Type.Optional(Type.String({ description: 'At most so many rows, 1 to 10000; without it all.' })),
    cursor: Type.Optional(
      Type.String({ maxLength: 200, title: 'a cursor', description: '`next_cursor` of the page before.' }),
    ),
  }),
  alternatives: {
    'application/x-ndjson': Type.String({
      description:
        'An entry per line; then one line `{"export": …}` with the rest, a digest and a signature.',
    }),
    'text/csv': Type.String({
      description:
        'A header, then an entry per record. Texts that would start a formula have an apostrophe in front.',
    }),
  },
  responseHeaders: { 200: ['X-Audit-Chain' as const] },
  response: {
    200: Type.Object({
      entries: Type.Array(entry),
      count: Type.Integer({ description: 'How many entries there are here.' }),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: 'Null when nothing is left. In every format also the header X-Next-Cursor, then absent.',
      }),
      chain: chainSchema,
    }),
    ...errorResponses('error'),
  },
}
