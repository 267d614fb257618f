import type { KeyObject } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../policy/actor.ts'
import { prefersHtml } from '../../platform/http/accept.ts'
import { createCloseSignal } from '../../platform/http/close-signal.ts'
import { type Cell, formatCsvRecord } from '../../platform/lists/csv.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { refuseEmbedding } from '../../platform/http/pages/forms.ts'
import { sendPage } from '../../platform/http/pages/send-page.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import { createFormToken } from '../../platform/secrets/form-token.ts'
import { renderAccessReviewPage } from './access-review.page.ts'
import { attestSchema, reviewSchema } from './access-reviews.schemas.ts'
import type { AttestService } from './attest.service.ts'
import type { Entry, ReportService, StreamedReport } from './report.service.ts'

type Services = { reports: ReportService; attestations: AttestService; formKey: KeyObject }

// Justifications that people write by hand fit within this limit. Only generated requests, such as 10,000 entries with
// 1,000 characters each, exceed it.
const bodyLimit = 4_194_304
const policy = { can: { do: 'ACCESS_REVIEW' as const, on: [], in: 'SYSTEM' as const } }
const getActor = (request: FastifyRequest): Actor => request.actor as Actor

/** Registers the routes for reports (JSON, CSV or HTML) and for attestations. */
export function registerAccessReviewRoutes(server: ApiServer, services: Services): void {
  const { reports, attestations, formKey } = services
  server.get(
    '/api/access/review',
    {
      // A HEAD request would generate and record a report without sending it.
      exposeHeadRoute: false,
      config: { policy, audited: ['accessReview read'], prefersErrorPage: true },
      schema: reviewSchema,
    },
    async (request, reply) => {
      const { project_id, format } = request.query
      const projectId = project_id?.toLowerCase() ?? null
      void reply.header('vary', 'Accept')
      const signal = createCloseSignal(reply)
      if (format === undefined && prefersHtml(request.headers.accept)) {
        refuseEmbedding(request)
        const actor = getActor(request)
        const report = await reports.show(actor, { projectId, format: 'html' }, signal)
        const formSubject = { userId: actor.user.id, objectId: report.head.report_id }
        return sendPage(
          reply,
          200,
          renderAccessReviewPage(report, projectId, createFormToken(formKey, formSubject)),
        )
      }
      const reportRequest = { projectId, format: format ?? 'json' }
      const report = await reports.stream(getActor(request), reportRequest, signal)
      if (format !== 'csv') return sendPieces(request, reply, formatJson(report))
      const name = `access-review-${report.head.report_id}.csv`
      void reply.header('content-disposition', `attachment; filename="${name}"`)
      return sendPieces(request, reply, formatCsv(report), 'text/csv; charset=utf-8')
    },
  )
  server.post(
    '/api/access/review/attest',
    { bodyLimit, config: { policy, audited: ['accessReview attest'] }, schema: attestSchema },
    async (request, reply) => {
      void reply.header('cache-control', 'no-store')
      const { report_id, population_hash, decision, comment = '', entries } = request.body
      const attestation = await attestations.attest(getActor(request), {
        reportId: report_id?.toLowerCase() ?? null,
        populationHash: population_hash ?? null,
        decision,
        comment,
        entries: entries?.map(toEntry) ?? null,
      })
      return {
        attestation_id: attestation.id,
        attested_at: attestation.createdAt,
        attested_by: attestation.createdBy,
        report_id: attestation.reportId,
        population_hash: attestation.populationHash,
        entries: attestation.entries,
      }
    },
  )
}

type RequestEntry = { entry_id: string; decision: 'approve' | 'revoke' | 'modify'; justification?: string }
const toEntry = ({ entry_id: entryId, decision, justification = '' }: RequestEntry) => ({
  entryId,
  decision,
  justification,
})

async function* formatJson({ head, batches }: StreamedReport): AsyncGenerator<string> {
  const { chain, ...first } = head
  let prefix = `${JSON.stringify(first).slice(0, -1)},"entries":[`
  for await (const batch of batches) {
    yield prefix + batch.map((entry) => JSON.stringify(entry)).join(',')
    prefix = ','
  }
  // If there are no entries, the start of the JSON text has not been sent yet.
  yield `${prefix === ',' ? '' : prefix}],"chain":${JSON.stringify(chain)}}`
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

async function* formatCsv({ batches }: StreamedReport): AsyncGenerator<string> {
  yield formatCsvRecord(columns)
  for await (const batch of batches)
    yield batch.map((entry) => formatCsvRecord(columns.map((column) => toCell(entry[column])))).join('')
}

function toCell(value: Entry[keyof Entry]): Cell {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.join(' ')
  return `${value.decision} ${value.attested_at} by ${value.attested_by}`
}
