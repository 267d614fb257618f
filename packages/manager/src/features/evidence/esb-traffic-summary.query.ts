import type { EvidenceQuery } from './evidence-query.pure.ts'

export const esbTrafficSummary: EvidenceQuery = {
  name: 'esb-traffic-summary',
  title: 'ESB calls by day',
  description:
    'Number and outcome of calls by machine user, endpoint and day (UTC). Calls are kept for the number of days in `esb.audit_retention_days`.',
  controls: ['ISO/IEC 27001:2022 A.8.15', 'ISO/IEC 27001:2022 A.8.16', 'SOC 2 CC7.2', 'NIST SP 800-53 AU-6'],
  columns: {
    day: "to_char(c.day, 'YYYY-MM-DD')",
    project_id: 'coalesce(e.project_id, m.project_id)',
    project_name: 'p.name',
    endpoint_id: 'c.endpoint_id',
    endpoint_name: 'e.name',
    machine_user_id: 'c.machine_user_id',
    machine_user_name: 'm.name',
    calls: 'c.calls',
    succeeded: 'c.succeeded',
    failed: 'c.failed',
    without_end: 'c.without_end',
    mean_duration_ms: 'c.mean_duration_ms',
    longest_duration_ms: 'c.longest_duration_ms',
  },
  source: `from (
      select date_trunc('day', l.created_at at time zone 'UTC') as day, l.endpoint_id, l.machine_user_id,
        count(*)::float8 as calls,
        count(*) filter (where l.failure is null and l.response_status < 400)::float8 as succeeded,
        count(*) filter (where l.failure is not null or l.response_status >= 400)::float8 as failed,
        count(*) filter (where l.failure is null and l.response_status is null)::float8 as without_end,
        round(avg(l.duration_ms))::float8 as mean_duration_ms, max(l.duration_ms) as longest_duration_ms
      from esb_audit_logs l where l.created_at >= $1 and l.created_at < $2
      group by 1, 2, 3
    ) c
    left join endpoints e on e.id = c.endpoint_id
    left join machine_users m on m.id = c.machine_user_id
    left join projects p on p.id = coalesce(e.project_id, m.project_id)`,
  orderBy: 'c.day desc, c.endpoint_id, c.machine_user_id',
}
