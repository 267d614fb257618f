import type { Actor } from '../../policy/actor.ts'
import { prefersHtml } from '../../platform/http/accept.ts'
import { createCloseSignal } from '../../platform/http/close-signal.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { refuseEmbedding } from '../../platform/http/pages/forms.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import { type Cell, formatCsvRecord } from '../../platform/lists/csv.ts'
import { renderEvidenceListPage, renderEvidencePage } from './evidence.page.ts'
import { listSchema, runSchema } from './evidence.schemas.ts'
import type { EvidenceRun, EvidenceService } from './evidence.service.ts'
import { convertDayBounds } from './window.pure.ts'

const policy = { can: { do: 'EVIDENCE_READ' as const, on: [], in: 'SYSTEM' as const } }
// A page shows only as many rows as a person can read. The CSV contains all rows.
const maxPageRows = 500

/**
 * Registers the routes that administrators use to run evidence queries. The formats are JSON, CSV and HTML
 * pages.
 */
export function registerEvidenceRoutes(server: ApiServer, evidence: EvidenceService): void {
  server.get(
    '/api/audit/evidence',
    { config: { policy, prefersErrorPage: true }, schema: listSchema },
    async (request, reply) => {
      const queries = evidence.list()
      void reply.headers({ 'cache-control': 'no-store', vary: 'Accept' })
      if (!prefersHtml(request.headers.accept))
        return reply.send({ names: queries.map(({ name }) => name), queries })
      refuseEmbedding(request)
      return sendPage(reply, 200, renderEvidenceListPage(queries))
    },
  )
  server.get(
    '/api/audit/evidence/:name',
    {
      // A HEAD request would be recorded as a run that returns no content.
      exposeHeadRoute: false,
      config: { policy, audited: ['evidence read'], prefersErrorPage: true },
      schema: runSchema,
    },
    async (request, reply) => {
      const { name } = request.params
      const { format, ...requestedWindow } = request.query
      void reply.header('vary', 'Accept')
      const isPage = format === undefined && prefersHtml(request.headers.accept)
      if (isPage) refuseEmbedding(request)
      const window = isPage ? convertDayBounds(requestedWindow) : requestedWindow
      // A disconnect releases the database connection, even before the first row.
      const run = await evidence.run(request.actor as Actor, name, window, createCloseSignal(reply))
      void reply.header('x-audit-chain', run.chain.status)
      if (format === 'csv') {
        void reply.header('content-disposition', `attachment; filename="${buildFileName(run)}"`)
        return sendPieces(request, reply, generateCsv(run), 'text/csv; charset=utf-8; header=present')
      }
      if (!isPage) return sendPieces(request, reply, generateJson(run))
      const query = evidence.list().find((one) => one.name === name)
      return sendPage(reply, 200, renderEvidencePage({ ...run, ...query }, await readFirstRows(run)))
    },
  )
}

/** Returns the rows that fit on a page, and closes the run. */
async function readFirstRows(
  run: EvidenceRun,
): Promise<{ rows: Record<string, unknown>[]; hasMore: boolean }> {
  const rows: Record<string, unknown>[] = []
  try {
    for (let batch = await run.rows.next(); batch.done !== true; batch = await run.rows.next()) {
      rows.push(...batch.value)
      if (rows.length > maxPageRows) break
    }
  } finally {
    await run.close()
  }
  return { rows: rows.slice(0, maxPageRows), hasMore: rows.length > maxPageRows }
}

const formatDay = (at: Date): string => at.toISOString().slice(0, 10)
const buildFileName = ({ name, from, to }: EvidenceRun): string =>
  `evidence-${name}-${formatDay(from)}-${formatDay(to)}.csv`

async function* generateJson(run: EvidenceRun): AsyncGenerator<string> {
  try {
    const { name, from, to, generatedAt: generated_at, columns, chain, rows } = run
    let before = `${JSON.stringify({ name, from, to, generated_at, columns }).slice(0, -1)},"rows":[`
    let batch = await rows.next()
    for (; batch.done !== true; batch = await rows.next()) {
      yield before + batch.value.map((row) => JSON.stringify(row)).join(',')
      before = ','
    }
    const { count: row_count, isTruncated: truncated } = batch.value
    // The run is closed before the end is sent. Otherwise, a client that runs queries in sequence would have
    // to wait for its own run.
    await run.close()
    const opening = before === ',' ? '' : before
    yield `${opening}],${JSON.stringify({ row_count, truncated, chain }).slice(1)}`
  } finally {
    await run.close()
  }
}

/** Yields a header, then one record per row. If the result is truncated, the last record says so. */
async function* generateCsv(run: EvidenceRun): AsyncGenerator<string> {
  const { columns, rows } = run
  try {
    yield formatCsvRecord(columns)
    let batch = await rows.next()
    for (; batch.done !== true; batch = await rows.next())
      yield batch.value
        .map((row) => formatCsvRecord(columns.map((column) => formatCell(row[column]))))
        .join('')
    const { count, isTruncated } = batch.value
    await run.close()
    if (isTruncated) yield formatCsvRecord([buildTruncationNotice(count), ...columns.slice(1).map(() => '')])
  } finally {
    await run.close()
  }
}

const buildTruncationNotice = (count: number): string =>
  `TRUNCATED: there are more than ${count} rows; narrow the window to get the others`

function formatCell(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return JSON.stringify(value)
}
