import type { Actor } from '../../policy/actor.ts'
import { runWhenClosed } from '../../platform/http/close-signal.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import { exportSchema } from './audit.schemas.ts'
import { parseExportQuery } from './export.pure.ts'
import type { ExportFormat, ExportService } from './export.service.ts'

const contentTypes: Record<ExportFormat, string> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

/** Registers the route that administrators use to export the audit trail. */
export function registerAuditRoutes(server: ApiServer, exports: ExportService): void {
  server.get(
    '/api/audit/export',
    {
      // A HEAD request would be recorded as an export without content.
      exposeHeadRoute: false,
      config: {
        policy: { can: { do: 'AUDIT_EXPORT', on: [], in: 'SYSTEM' } },
        audited: ['auditTrail export'],
      },
      schema: exportSchema,
    },
    async (request, reply) => {
      const { format = 'json', ...query } = request.query
      const exportRequest = parseExportQuery(query)
      const { pieces, nextCursor, chain, close } = await exports.start(
        request.actor as Actor,
        format,
        exportRequest,
      )
      // If the client disconnects, close the cursor immediately, at any point of the export.
      runWhenClosed(reply, () => void close())
      if (nextCursor !== null) void reply.header('x-next-cursor', nextCursor)
      void reply.header('x-audit-chain', chain.status)
      if (format !== 'json')
        void reply.header('content-disposition', `attachment; filename="audit-export.${format}"`)
      return sendPieces(request, reply, pieces, contentTypes[format])
    },
  )
}
