// These schemas describe the evidence routes.
import { Type } from 'typebox'
import { chainSchema } from '../../platform/http/chain.schemas.ts'
import { createErrorResponses } from '../../platform/http/http.schemas.ts'

const tags = ['people' as const]
const name = Type.String({ description: 'The name of the query, such as `access-grants`.' })
const columns = Type.Array(Type.String(), { description: 'Columns of the rows, in order.' })
const instant = (description: string) =>
  Type.Optional(Type.String({ description: `${description} RFC 3339 with \`Z\` or an offset.` }))

export const listSchema = {
  operationId: 'listEvidence',
  summary: 'Returns the list of evidence queries',
  description: 'The format is JSON, or an HTML page if the client prefers `text/html`.',
  tags,
  alternatives: { 'text/html': Type.String({ description: 'The same list, with a link to each query.' }) },
  response: {
    200: Type.Object({
      names: Type.Array(name),
      queries: Type.Array(
        Type.Object(
          {
            name,
            title: Type.String(),
            description: Type.String({ description: 'Content of the rows, and known omissions.' }),
            controls: Type.Array(Type.String(), {
              description: 'Requirements of well-known frameworks for which the rows are evidence.',
            }),
            columns,
          },
          { $id: 'EvidenceQuery' },
        ),
      ),
    }),
    ...createErrorResponses('error'),
  },
}

export const runSchema = {
  operationId: 'runEvidence',
  summary: 'Runs an evidence query',
  description:
    'The format is JSON, CSV with `format=csv`, or an HTML page if the client prefers `text/html`. The response contains at most 100,000 rows, newest first; `truncated` reports whether more rows exist. The response is a stream: if the connection closes before the JSON is complete, the run failed. Every run is recorded in the audit trail.',
  tags,
  params: Type.Object({ name }),
  querystring: Type.Object({
    from: instant('Start of the window; defaults to 90 days before its end.'),
    to: instant('End of the window, exclusive; defaults to now.'),
    format: Type.Optional(
      Type.Enum(['json', 'csv'], { title: 'json or csv', description: 'Overrides `Accept`.' }),
    ),
  }),
  alternatives: {
    'text/csv': Type.String({
      description:
        'A header, then one record per row; objects are JSON. If more rows exist, the last record starts with `TRUNCATED`. Text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.',
    }),
    'text/html': Type.String({
      description:
        'Up to 500 rows, and a form for the window. The form also accepts days such as `2026-01-31`.',
    }),
  },
  responseHeaders: { 200: ['X-Audit-Chain' as const] },
  response: {
    200: Type.Object({
      name,
      from: Type.String({ format: 'date-time' }),
      to: Type.String({ format: 'date-time' }),
      generated_at: Type.String({
        format: 'date-time',
        description: 'Time of the snapshot from which all rows were read.',
      }),
      columns,
      rows: Type.Array(Type.Object({}, { additionalProperties: true })),
      row_count: Type.Integer({ description: 'Number of rows in this response.' }),
      truncated: Type.Boolean({ description: 'True if more rows exist. Narrow the window to get them.' }),
      chain: chainSchema,
    }),
    ...createErrorResponses('error'),
  },
}
