import type { Actor } from '../../policy/actor.ts'
import { whenClosed } from '../../platform/http/close-signal.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import { exportSchema } from './audit.schemas.ts'
import { readExportQuery } from './export.pure.ts'
import type { ExportFormat, ExportService } from './export.service.ts'

const types: Record<ExportFormat, string> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

/** The route by which administrators take the trail out. */
export function registerAuditRoutes(server: ApiServer, exports: ExportService): void {
  server.get(
    '/api/audit/export',
    {
      // A HEAD would be recorded as an export of nothing.
      exposeHeadRoute: false,
      config: {
        policy: { can: { do: 'AUDIT_EXPORT', on: [], in: 'SYSTEM' } },
        audited: ['auditTrail export'],
      },
      schema: exportSchema,
    },
    async (request, reply) => {
      const { format = 'json', ...query } = request.query
      const asked = readExportQuery(query)
      const { pieces, nextCursor, chain, close } = await exports.begin(request.actor as Actor, format, asked)
      // Whoever goes away gives the cursor back at once, wherever the export is.
      whenClosed(reply, () => void close())
      if (nextCursor !== null) void reply.header('x-next-cursor', nextCursor)
      void reply.header('x-audit-chain', chain.status)
      if (format !== 'json')
        void reply.header('content-disposition', `attachment; filename="audit-export.${format}"`)
      return sendPieces(request, reply, pieces, types[format])
    },
  )
}
