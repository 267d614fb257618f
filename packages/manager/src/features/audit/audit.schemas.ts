// These schemas describe the request and the response of the audit export.
import { Type } from 'typebox'
import { chainSchema } from '../../platform/http/chain.schemas.ts'
import { createErrorResponses, createUuidSchema } from '../../platform/http/http.schemas.ts'

const createExactFilter = (condition: string) =>
  Type.Optional(
    Type.String({ maxLength: 200, title: 'at most 200 characters', description: `Only rows ${condition}.` }),
  )
const createTimestampSchema = (description: string) =>
  Type.Optional(Type.String({ maxLength: 64, description }))
const textOrNull = Type.Union([Type.String(), Type.Null()])

const entry = Type.Object(
  {
    chain_id: createUuidSchema('The project, or the nil UUID for rows without a project.'),
    seq: Type.Integer({ description: 'Position in the chain, starting at 1, without gaps.' }),
    id: createUuidSchema('The row.'),
    entity_type: Type.String(),
    entity_id: Type.String(),
    action: Type.String(),
    description: Type.String(),
    metadata: Type.Object({}, { additionalProperties: true }),
    changes: Type.Object(
      {},
      { additionalProperties: true, description: 'Maps each changed field to `{before, after}`.' },
    ),
    form: Type.Integer({ description: 'Row format; it determines which fields the hash covers.' }),
    principal_type: textOrNull,
    principal_id: textOrNull,
    user_id: Type.Union([createUuidSchema('The user who made the change.'), Type.Null()]),
    ip_address: Type.String(),
    user_agent: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    prev_hash: Type.String({ description: '`hash` of the previous row in the chain.' }),
    hash: Type.String({ description: 'SHA-256 of the canonical JSON of the row, in hexadecimal.' }),
  },
  { $id: 'AuditEntry' },
)

export const exportSchema = {
  operationId: 'exportAuditTrail',
  summary: 'Returns the audit trail of one project or of all projects',
  description:
    'The export is a streamed snapshot, ordered by chain, then by position. If the connection closes before the body is complete, the export failed. NDJSON ends with a signed line `{"export": …}`. The Manager runs only a few exports concurrently; further requests return 503.',
  tags: ['people' as const],
  querystring: Type.Object({
    from: createTimestampSchema('Only rows at or after this time, RFC 3339.'),
    to: createTimestampSchema('Only rows before this time, RFC 3339.'),
    project_id: Type.Optional(Type.String({ description: 'Only the chain of this project.' })),
    entity_type: createExactFilter('about this type of entity'),
    entity_id: createExactFilter('about this entity'),
    action: createExactFilter('with this action'),
    user_id: Type.Optional(Type.String({ description: 'Only changes made by this user.' })),
    format: Type.Optional(Type.Enum(['json', 'ndjson', 'csv'], { title: 'json, ndjson or csv' })),
    limit: Type.Optional(
      Type.String({ description: 'Maximum number of rows, 1 to 10000; all rows if absent.' }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 200, title: 'a cursor', description: '`next_cursor` of the previous page.' }),
    ),
  }),
  alternatives: {
    'application/x-ndjson': Type.String({
      description:
        'One entry per line, then a line `{"export": …}` with the other fields, a digest and a signature.',
    }),
    'text/csv': Type.String({
      description:
        'A header, then one record per entry. Text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.',
    }),
  },
  responseHeaders: { 200: ['X-Audit-Chain' as const] },
  response: {
    200: Type.Object({
      entries: Type.Array(entry),
      count: Type.Integer({ description: 'Number of entries in this response.' }),
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description:
          'Cursor of the next page; null on the last page. The header X-Next-Cursor has the same value in every format; it is absent on the last page.',
      }),
      chain: chainSchema,
    }),
    ...createErrorResponses('error'),
  },
}
