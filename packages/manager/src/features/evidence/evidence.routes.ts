import type { Actor } from '../../policy/actor.ts'
import { closeSignalOf } from '../../platform/http/close-signal.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import { listSchema, runSchema } from './evidence.schemas.ts'
import type { EvidenceRun, EvidenceService } from './evidence.service.ts'

const policy = { can: { do: 'EVIDENCE_READ' as const, on: [], in: 'SYSTEM' as const } }

/** The routes by which administrators answer auditors. */
export function registerEvidenceRoutes(server: ApiServer, evidence: EvidenceService): void {
  server.get('/api/audit/evidence', { config: { policy }, schema: listSchema }, (_request, reply) => {
    void reply.header('cache-control', 'no-store')
    const queries = evidence.list()
    return { names: queries.map(({ name }) => name), queries }
  })
  server.get(
    '/api/audit/evidence/:name',
    // A HEAD would be recorded as a run that nobody reads.
    { exposeHeadRoute: false, config: { policy, audited: ['evidence read'] }, schema: runSchema },
    async (request, reply) => {
      // Whoever goes away lets the connection to the database go, before the first row too.
      const signal = closeSignalOf(reply)
      const run = await evidence.run(request.actor as Actor, request.params.name, request.query, signal)
      return sendPieces(request, reply, asJson(run))
    },
  )
}

/** The response in pieces, one for each batch of rows. */
async function* asJson(run: EvidenceRun): AsyncGenerator<string> {
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
