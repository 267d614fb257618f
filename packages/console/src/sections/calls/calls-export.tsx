// The export of the calls that the filters select.
import type { ReactNode } from 'react'
import { ExportButton } from '../../app/export-button.tsx'
import { useProject } from '../../app/project.tsx'
import { callExportDocument } from '../../generated/documents.ts'
import type { CallsQuery } from './calls-query.ts'

type ExportProps = { application: string; query: CallsQuery; isDisabled: boolean }

export function CallsExport({ application, query, isDisabled }: ExportProps): ReactNode {
  const { slug } = useProject()
  if (isDisabled) return null
  return (
    <ExportButton
      fileName={`${slug}-calls.csv`}
      read={{
        document: callExportDocument,
        variables: { application, ...query },
        select: (result) => result.esbAuditLogsConnection,
      }}
      heads={[
        'timestamp',
        'request_id',
        'status',
        'duration_ms',
        'failure',
        'method',
        'endpoint',
        'path',
        'target_url',
        'machine_user',
        'environment',
        'source_ip',
        'transformed',
        'test',
        'id',
      ]}
      toCells={(call) => [
        call.timestamp,
        call.requestId ?? '',
        call.responseStatus ?? '',
        call.durationMs ?? '',
        call.failure ?? '',
        call.method,
        call.endpoint.name,
        call.path,
        call.targetURL,
        call.machineUser.name,
        call.machineUser.environment.name,
        call.sourceIP,
        String(call.transformationApplied),
        String(call.test),
        call.id,
      ]}
    />
  )
}
