// What the routes of evidence take and return.
import { Type } from 'typebox'
import { chainSchema } from '../../platform/http/chain.schemas.ts'
import { errorResponses } from '../../platform/http/http.schemas.ts'

const tags = ['people' as const]
const name = Type.String({ description: 'The name of the query, such as `access-grants`.' })
const columns = Type.Array(Type.String(), { description: 'The columns of its rows, in their order.' })
const instant = (description: string) =>
  Type.Optional(Type.String({ description: `${description} RFC 3339 with \`Z\` or an offset.` }))

export const listSchema = {
  operationId: 'listEvidence',
  summary: 'The evidence queries',
  description: 'JSON; an HTML page if the client prefers `text/html`.',
  tags,
  alternatives: { 'text/html': Type.String({ description: 'The same, with a link to each query.' }) },
  response: {
    200: Type.Object({
      names: Type.Array(name),
      queries: Type.Array(
        Type.Object(
          {
            name,
            title: Type.String(),
            description: Type.String({ description: 'What the rows are, and what is not among them.' }),
            controls: Type.Array(Type.String(), {
              description: 'Requirements of well-known frameworks for which the rows are evidence.',
            }),
            columns,
          },
          { $id: 'EvidenceQuery' },
        ),
      ),
    }),
    ...errorResponses('error'),
  },
}

export const runSchema = {
  operationId: 'runEvidence',
  summary: 'Runs an evidence query',
  description:
    'JSON; CSV with `format=csv`; an HTML page if the client prefers `text/html`. The newest rows come first; at most 100,000 are returned, and `truncated` says whether there are more. The response is a stream: a connection that ends before the JSON does was cut by a failure. Every run is in the audit trail.',
  tags,
  params: Type.Object({ name }),
  querystring: Type.Object({
    from: instant('The beginning of the window; 90 days before its end without it.'),
    to: instant('The end of the window, which does not belong to it; now without it.'),
    format: Type.Optional(
      Type.Enum(['json', 'csv'], { title: 'json or csv', description: 'Whatever `Accept` says.' }),
    ),
  }),
  alternatives: {
    'text/csv': Type.String({
      description:
        'A header, then a record for each row; objects are JSON. If there are more rows, the last record begins with `TRUNCATED`. Texts that would start a formula have an apostrophe in front.',
    }),
    'text/html': Type.String({
      description: 'Up to 500 rows, and a form for the window, which takes days such as `2026-01-31` too.',
    }),
  },
  responseHeaders: { 200: ['X-Audit-Chain' as const] },
  response: {
    200: Type.Object({
      name,
      from: Type.String({ format: 'date-time' }),
      to: Type.String({ format: 'date-time' }),
      generated_at: Type.String({ format: 'date-time', description: 'The moment all rows were read at.' }),
      columns,
      rows: Type.Array(Type.Object({}, { additionalProperties: true })),
      row_count: Type.Integer({ description: 'How many rows are in this response.' }),
      truncated: Type.Boolean({ description: 'Whether there are more; narrow the window then.' }),
      chain: chainSchema,
    }),
    ...errorResponses('error'),
  },
}
