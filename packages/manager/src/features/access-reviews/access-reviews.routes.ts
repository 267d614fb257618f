import type { KeyObject } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../policy/actor.ts'
import { prefersHtml } from '../../platform/http/accept.ts'
import { closeSignalOf } from '../../platform/http/close-signal.ts'
import { type Cell, csvRecord } from '../../platform/lists/csv.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { refuseEmbedding } from '../../platform/http/pages/forms.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import { formToken } from '../../platform/secrets/form-token.ts'
import { accessReviewPage } from './access-review.page.ts'
import { attestSchema, reviewSchema } from './access-reviews.schemas.ts'
import type { AttestService } from './attest.service.ts'
import type { Entry, ReportService, StreamedReport } from './report.service.ts'

type Services = { reports: ReportService; attestations: AttestService; formKey: KeyObject }

// 10,000 entries with a justification of 1,000 characters each would exceed this limit. Handwritten justifications fit.
const bodyLimit = 4_194_304
const policy = { can: { do: 'ACCESS_REVIEW' as const, on: [], in: 'SYSTEM' as const } }
const actorOf = (request: FastifyRequest): Actor => request.actor as Actor

/** Registers the routes for the report, as JSON, CSV or a page, and for its attestation. */
export function registerAccessReviewRoutes(server: ApiServer, services: Services): void {
  const { reports, attestations, formKey } = services
  server.get(
    '/api/access/review',
    {
      // A HEAD request would generate and record a report without sending it.
      exposeHeadRoute: false,
      config: { policy, audited: ['accessReview read'], errorPageIfAsked: true },
      schema: reviewSchema,
    },
    async (request, reply) => {
      const { project_id, format } = request.query
      const projectId = project_id?.toLowerCase() ?? null
      void reply.header('vary', 'Accept')
      const signal = closeSignalOf(reply)
      if (format === undefined && prefersHtml(request.headers.accept)) {
        refuseEmbedding(request)
        const actor = actorOf(request)
        const report = await reports.show(actor, { projectId, format: 'html' }, signal)
        const shown = { userId: actor.user.id, objectId: report.head.report_id }
        return sendPage(reply, 200, accessReviewPage(report, projectId, formToken(formKey, shown)))
      }
      const wanted = { projectId, format: format ?? 'json' }
      const report = await reports.stream(actorOf(request), wanted, signal)
      if (format !== 'csv') return sendPieces(request, reply, asJson(report))
      const name = `access-review-${report.head.report_id}.csv`
      void reply.header('content-disposition', `attachment; filename="${name}"`)
      return sendPieces(request, reply, asCsv(report), 'text/csv; charset=utf-8')
    },
  )
  server.post(
    '/api/access/review/attest',
    { bodyLimit, config: { policy, audited: ['accessReview attest'] }, schema: attestSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const { report_id, population_hash, decision, comment = '', entries } = request.body
      const attested = await attestations.attest(actorOf(request), {
        reportId: report_id?.toLowerCase() ?? null,
        populationHash: population_hash ?? null,
        decision,
        comment,
        entries: entries?.map(entryOf) ?? null,
      })
      return {
        attestation_id: attested.id,
        attested_at: attested.createdAt,
        attested_by: attested.createdBy,
        report_id: attested.reportId,
        population_hash: attested.populationHash,
        entries: attested.entries,
      }
    },
  )
}

type GivenEntry = { entry_id: string; decision: 'approve' | 'revoke' | 'modify'; justification?: string }
const entryOf = ({ entry_id: entryId, decision, justification = '' }: GivenEntry) => ({
  entryId,
  decision,
  justification,
})

async function* asJson({ head, batches }: StreamedReport): AsyncGenerator<string> {
  const { chain, ...first } = head
  let before = `${JSON.stringify(first).slice(0, -1)},"entries":[`
  for await (const batch of batches) {
    yield before + batch.map((entry) => JSON.stringify(entry)).join(',')
    before = ','
  }
  // If there are no entries, the start of the JSON text has not been sent yet.
  yield `${before === ',' ? '' : before}],"chain":${JSON.stringify(chain)}}`
}

const columns = [
  'entry_id',
  'principal_type',
  'principal_id',
  'name',
  'email',
  'scope_type',
  'scope_id',
  'scope_name',
  'project_id',
  'role',
  'enabled',
  'granted_at',
  'granted_by',
  'last_activity_at',
  'expires_at',
  'flags',
  'recommendation',
  'last_attestation',
] as const satisfies readonly (keyof Entry)[]

async function* asCsv({ batches }: StreamedReport): AsyncGenerator<string> {
  yield csvRecord(columns)
  for await (const batch of batches)
    yield batch.map((entry) => csvRecord(columns.map((column) => cellOf(entry[column])))).join('')
}

function cellOf(value: Entry[keyof Entry]): Cell {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.join(' ')
  return `${value.decision} ${value.attested_at} by ${value.attested_by}`
}
