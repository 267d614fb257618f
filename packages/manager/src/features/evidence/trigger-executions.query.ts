import type { EvidenceQuery } from './evidence-query.pure.ts'

export const triggerExecutions: EvidenceQuery = {
  name: 'trigger-executions',
  title: 'Trigger runs',
  description:
    'Trigger runs that were scheduled in the window, with their outcome. Runs are kept for the number of days in `triggers.run_retention_days`.',
  controls: ['ISO/IEC 27001:2022 A.8.15', 'SOC 2 PI1.3', 'NIST SP 800-53 AU-2'],
  columns: {
    scheduled_at: 'r.scheduled_at',
    run_id: 'r.id',
    trigger_id: 'r.trigger_id',
    trigger_name: 'r.trigger_name',
    run_key: 'r.run_key',
    project_id: 'r.project_id',
    project_name: 'p.name',
    application_id: 'r.application_id',
    application_name: 'a.name',
    environment: 'e.name',
    outcome: 'r.outcome',
    attempts: 'r.attempts',
    executed_at: 'r.executed_at',
    finished_at: 'r.finished_at',
    response_status: 'r.response_status',
    failure: 'left(r.failure, 500)',
  },
  source: `from trigger_runs r
    left join projects p on p.id = r.project_id
    left join applications a on a.id = r.application_id
    left join environments e on e.id = r.environment_id
    where r.scheduled_at >= $1 and r.scheduled_at < $2`,
  orderBy: 'r.scheduled_at desc, r.trigger_id, r.environment_id',
}
