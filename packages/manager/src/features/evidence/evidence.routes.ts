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
// A page is limited to the number of rows that a person can read. The CSV contains all rows.
const maxShown = 500

/** Registers the routes with which administrators run evidence queries, as JSON, CSV and pages. */
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
      // A HEAD request would be recorded as a run without content.
      exposeHeadRoute: false,
      config: { policy, audited: ['evidence read'], errorPageIfAsked: true },
      schema: runSchema,
    },
    async (request, reply) => {
      const { name } = request.params
      const { format, ...requested } = request.query
      void reply.header('vary', 'Accept')
      const isPage = format === undefined && prefersHtml(request.headers.accept)
      if (isPage) refuseEmbedding(request)
      const window = isPage ? dayBounds(requested) : requested
      // A disconnect releases the database connection, even before the first row.
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

/** Returns the rows that fit on a page, and closes the run. */
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
    // The run is closed before the end is sent, so that a client that runs queries in sequence never has to wait for
    // its own run.
    await run.close()
    const opening = before === ',' ? '' : before
    yield `${opening}],${JSON.stringify({ row_count, truncated, chain }).slice(1)}`
  } finally {
    await run.close()
  }
}

/** Yields a header, then one record per row. A truncated result ends with a record that says so. */
async function* csvOf(run: EvidenceRun): AsyncGenerator<string> {
  const { columns, rows } = run
  try {
    yield csvRecord(columns)
    let next = await rows.next()
    for (; next.done !== true; next = await rows.next())
      yield next.value.map((row) => csvRecord(columns.map((column) => cellOf(row[column])))).join('')
    const { count, isTruncated } = next.value
    await run.close()
    if (isTruncated) yield csvRecord([truncationNotice(count), ...columns.slice(1).map(() => '')])
  } finally {
    await run.close()
  }
}

const truncationNotice = (count: number): string =>
  `TRUNCATED: there are more than ${count} rows; narrow the window to get the others`

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return JSON.stringify(value)
}
