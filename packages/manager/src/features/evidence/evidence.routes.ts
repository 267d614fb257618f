import type { Actor } from '../../policy/actor.ts'
import { prefersHtml } from '../../platform/http/accept.ts'
import { closeSignalOf } from '../../platform/http/close-signal.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { refuseEmbedding } from '../../platform/http/pages/forms.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import { type Cell, csvRecord } from '../../platform/lists/csv.ts'
import { evidenceListPage, evidencePage } from './evidence.page.ts'
import { listSchema, runSchema } from './evidence.schemas.ts'
import type { EvidenceRun, EvidenceService } from './evidence.service.ts'
import { dayBounds } from './window.pure.ts'

const policy = { can: { do: 'EVIDENCE_READ' as const, on: [], in: 'SYSTEM' as const } }
// As many as somebody reads; the CSV has all.
const maxShown = 500

/** The routes by which administrators answer auditors: as JSON, as CSV, and as pages. */
export function registerEvidenceRoutes(server: ApiServer, evidence: EvidenceService): void {
  server.get(
    '/api/audit/evidence',
    { config: { policy, errorPageIfAsked: true }, schema: listSchema },
    async (request, reply) => {
      const queries = evidence.list()
      void reply.headers({ 'cache-control': 'no-store', vary: 'Accept' })
      if (!prefersHtml(request.headers.accept))
        return reply.send({ names: queries.map(({ name }) => name), queries })
      refuseEmbedding(request)
      return sendPage(reply, 200, evidenceListPage(queries))
    },
  )
  server.get(
    '/api/audit/evidence/:name',
    {
      // A HEAD would be recorded as a run that nobody reads.
      exposeHeadRoute: false,
      config: { policy, audited: ['evidence read'], errorPageIfAsked: true },
      schema: runSchema,
    },
    async (request, reply) => {
      const { name } = request.params
      const { format, ...asked } = request.query
      void reply.header('vary', 'Accept')
      const isPage = format === undefined && prefersHtml(request.headers.accept)
      if (isPage) refuseEmbedding(request)
      const window = isPage ? dayBounds(asked) : asked
      // Whoever goes away lets the connection to the database go, before the first row too.
      const run = await evidence.run(request.actor as Actor, name, window, closeSignalOf(reply))
      void reply.header('x-audit-chain', run.chain.status)
      if (format === 'csv') {
        void reply.header('content-disposition', `attachment; filename="${fileNameOf(run)}"`)
        return sendPieces(request, reply, csvOf(run), 'text/csv; charset=utf-8; header=present')
      }
      if (!isPage) return sendPieces(request, reply, jsonOf(run))
      const query = evidence.list().find((one) => one.name === name)
      return sendPage(reply, 200, evidencePage({ ...run, ...query }, await firstRows(run)))
    },
  )
}

/** The rows that a page has room for; the run is closed. */
async function firstRows(run: EvidenceRun): Promise<{ rows: Record<string, unknown>[]; hasMore: boolean }> {
  const rows: Record<string, unknown>[] = []
  try {
    for (let next = await run.rows.next(); next.done !== true; next = await run.rows.next()) {
      rows.push(...next.value)
      if (rows.length > maxShown) break
    }
  } finally {
    await run.close()
  }
  return { rows: rows.slice(0, maxShown), hasMore: rows.length > maxShown }
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)
const fileNameOf = ({ name, from, to }: EvidenceRun): string =>
  `evidence-${name}-${dayOf(from)}-${dayOf(to)}.csv`

/** The response as JSON. */
async function* jsonOf(run: EvidenceRun): AsyncGenerator<string> {
  try {
    const { name, from, to, generatedAt: generated_at, columns, chain, rows } = run
    let before = `${JSON.stringify({ name, from, to, generated_at, columns }).slice(0, -1)},"rows":[`
    let next = await rows.next()
    for (; next.done !== true; next = await rows.next()) {
      yield before + next.value.map((row) => JSON.stringify(row)).join(',')
      before = ','
    }
    const { count: row_count, isTruncated: truncated } = next.value
    // Before the end is sent, so that whoever asks for one after the other is never told to wait.
    await run.close()
    const opening = before === ',' ? '' : before
    yield `${opening}],${JSON.stringify({ row_count, truncated, chain }).slice(1)}`
  } finally {
    await run.close()
  }
}

/** The response as CSV: a header, then a record for each row. One that was cut ends with a record that says so. */
async function* csvOf(run: EvidenceRun): AsyncGenerator<string> {
  const { columns, rows } = run
  try {
    yield csvRecord(columns)
    let next = await rows.next()
    for (; next.done !== true; next = await rows.next())
      yield next.value.map((row) => csvRecord(columns.map((column) => cellOf(row[column])))).join('')
    const { count, isTruncated } = next.value
    await run.close()
    if (isTruncated) yield csvRecord([cutAfter(count), ...columns.slice(1).map(() => '')])
  } finally {
    await run.close()
  }
}

const cutAfter = (count: number): string =>
  `TRUNCATED: there are more than ${count} rows; narrow the window for the others`

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return JSON.stringify(value)
}
