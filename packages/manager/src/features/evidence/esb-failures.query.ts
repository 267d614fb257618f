import type { EvidenceQuery } from './evidence-query.pure.ts'

export const esbFailures: EvidenceQuery = {
  name: 'esb-failures',
  title: 'Failed and rejected ESB calls',
  description:
    'Calls that were rejected, that failed, that returned a status of 400 or higher, or that have no recorded end. Bodies and headers are not shown. Calls are kept for the number of days in `esb.audit_retention_days`.',
  controls: [
    'ISO/IEC 27001:2022 A.8.15',
    'ISO/IEC 27001:2022 A.8.16',
    'SOC 2 CC7.2',
    'SOC 2 CC7.3',
    'NIST SP 800-53 AU-6',
  ],
  columns: {
    occurred_at: 'l.created_at',
    call_id: 'l.id',
    request_id: 'l.request_id',
    project_id: 'coalesce(e.project_id, m.project_id)',
    project_name: 'p.name',
    endpoint_id: 'l.endpoint_id',
    endpoint_name: 'e.name',
    machine_user_id: 'l.machine_user_id',
    machine_user_name: 'm.name',
    source_ip: 'l.source_ip',
    method: 'l.method',
    path: "left(split_part(l.path, '?', 1), 500)",
    response_status: 'l.response_status',
    duration_ms: 'l.duration_ms',
    failure: 'left(l.failure, 500)',
  },
  source: `from esb_audit_logs l
    left join endpoints e on e.id = l.endpoint_id
    left join machine_users m on m.id = l.machine_user_id
    left join projects p on p.id = coalesce(e.project_id, m.project_id)
    where l.created_at >= $1 and l.created_at < $2
      and (l.failure is not null or l.response_status is null or l.response_status >= 400)`,
  orderBy: 'l.created_at desc, l.id',
}
