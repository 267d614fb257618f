// The dashboards of triggers, comms and the database.
import {
  type Dashboard,
  count,
  gauge,
  percentileBy,
  percentiles,
  perSecond,
  share,
} from './dashboard-frame.ts'

export const triggers: Dashboard = {
  name: 'triggers',
  title: 'Manager: triggers',
  description: 'Runs of triggers, the jobs that deliver them, and the backends that are called.',
  rows: [
    {
      title: 'Runs',
      panels: [
        {
          title: 'Runs by outcome',
          description: 'Runs that are over.',
          unit: 'ops',
          queries: [perSecond('svc_trigger_runs_total', { by: 'outcome' })],
        },
        {
          title: 'Share of failed runs',
          description: 'Of runs that are over. Alert: ManagerRunsFailing.',
          unit: 'percentunit',
          queries: [share('svc_trigger_runs_total', 'outcome="failed"', { legend: 'failed' })],
        },
        {
          title: 'Lag',
          description:
            'From the planned instant to the first attempt. Alerts: ManagerRunsLate, ManagerRunLag.',
          unit: 's',
          queries: percentiles('svc_trigger_lag_seconds'),
        },
        {
          title: 'Attempts by result',
          description: 'Calls of backends; "retry" is followed by another.',
          unit: 'ops',
          queries: [perSecond('svc_trigger_attempts_total', { by: 'result' })],
        },
      ],
    },
    {
      title: 'Jobs',
      panels: [
        {
          title: 'Waiting jobs',
          description: 'Due and not fetched, of all processes. Alert: ManagerJobBacklog.',
          unit: 'short',
          queries: [gauge('svc_jobs_waiting', { by: 'queue' })],
        },
        {
          title: 'Oldest waiting job',
          description: 'For how long the next of them has waited. Alert: ManagerRunsLate.',
          unit: 's',
          queries: [gauge('svc_jobs_oldest_seconds', { by: 'queue' })],
        },
        {
          title: 'Jobs held',
          description: 'That a process works on.',
          unit: 'short',
          queries: [gauge('svc_jobs_held', { by: 'instance, queue' })],
        },
        {
          title: 'Jobs by outcome',
          description: 'Lost: the process was taken for dead. Failed: an error of the Manager.',
          unit: 'ops',
          queries: [perSecond('svc_jobs_total', { by: 'outcome' })],
        },
        {
          title: 'Planning that failed',
          description: 'Failed runs of the periodic jobs of triggers, backends and queues.',
          unit: 'short',
          queries: [
            count('svc_job_failures_total', {
              by: 'exported_job',
              match: 'exported_job=~"trigger-scheduling|trigger-run-retention|backends-reap|job-queues"',
            }),
          ],
        },
      ],
    },
    {
      title: 'Backends',
      panels: [
        {
          title: 'Registered backends',
          description: 'Live or stale, as a process with role jobs counted them last.',
          unit: 'short',
          queries: [gauge('svc_backends', { by: 'state' })],
        },
        {
          title: 'Heartbeats',
          description: 'Unknown: the backend must register again. Foreign: of another machine user.',
          unit: 'ops',
          queries: [perSecond('svc_heartbeats_total', { by: 'outcome' })],
        },
      ],
    },
  ],
}

export const comms: Dashboard = {
  name: 'comms',
  title: 'Manager: comms',
  description: 'Notifications, live hints, websockets and inboxes.',
  rows: [
    {
      title: 'Notifications',
      panels: [
        {
          title: 'Emits by outcome',
          description:
            'Notifications that backends emitted. Alerts: ManagerEmitsFailing, ManagerEmitsLimited.',
          unit: 'ops',
          queries: [perSecond('svc_comms_emit_total', { by: 'outcome' })],
        },
        {
          title: 'Recipients',
          description: 'Users that notifications were written for.',
          unit: 'ops',
          queries: [perSecond('svc_comms_recipients_total')],
        },
        {
          title: 'Publishes by outcome',
          description: 'Live hints that backends published.',
          unit: 'ops',
          queries: [perSecond('svc_comms_publish_total', { by: 'outcome' })],
        },
        {
          title: 'Duration by route, 99th percentile',
          description: 'Emit, publish and the inbox; without websockets.',
          unit: 's',
          queries: [
            percentileBy(
              0.99,
              'svc_http_request_duration_seconds',
              'route',
              'route=~"/api/(machine|proxy)/comms/.*", status!="101"',
            ),
          ],
        },
        {
          title: 'Requests of inboxes',
          description: 'By route.',
          unit: 'reqps',
          queries: [
            perSecond('svc_http_request_duration_seconds_count', {
              by: 'route',
              match: 'route=~"/api/proxy/comms/.*", status!="101"',
            }),
          ],
        },
        {
          title: 'Statements that write notifications',
          description: '99th percentile, with the wait for a connection.',
          unit: 's',
          queries: [percentileBy(0.99, 'svc_db_query_duration_seconds', 'pool', 'pool="notification"')],
        },
      ],
    },
    {
      title: 'Websockets',
      panels: [
        {
          title: 'Open websockets',
          description: 'By process; uneven numbers mean that the proxy does not spread them.',
          unit: 'short',
          queries: [gauge('svc_ws_connections')],
        },
        {
          title: 'Closed websockets',
          description: 'By code; "client" when the other side ended it.',
          unit: 'ops',
          queries: [perSecond('svc_ws_closed_total', { by: 'code' })],
        },
        {
          title: 'Refused handshakes',
          description: 'Answered 503, by what is full. Alert: ManagerSocketsRefused.',
          unit: 'reqps',
          queries: [perSecond('svc_ws_refused_total', { by: 'limit' })],
        },
      ],
    },
    {
      title: 'Hints',
      panels: [
        {
          title: 'Hints written',
          description: 'To websockets, by process.',
          unit: 'ops',
          queries: [perSecond('svc_ws_sent_total')],
        },
        {
          title: 'Hints left out',
          description:
            'By reason: slow clients, a backlog of a room, or while a websocket was being admitted.',
          unit: 'ops',
          queries: [perSecond('svc_ws_dropped_total', { by: 'reason' })],
        },
        {
          title: 'Hints lost between processes',
          description: 'Redis did not take them. Alert: ManagerHintsLost.',
          unit: 'ops',
          queries: [perSecond('svc_hints_lost_total')],
        },
        {
          title: 'Fan-out',
          description: 'From the beginning of a hint to its last write in one process.',
          unit: 's',
          queries: percentiles('svc_ws_fanout_seconds'),
        },
        {
          title: 'Lag between processes',
          description: 'From the sending of a hint to its arrival in another process.',
          unit: 's',
          queries: percentiles('svc_pubsub_lag_seconds'),
          mayBeEmpty: 'a single process gets no hints from others',
        },
      ],
    },
  ],
}

export const database: Dashboard = {
  name: 'database',
  title: 'Manager: database',
  description: 'The database as the Manager sees it, periodic jobs and the audit trail.',
  rows: [
    {
      title: 'Connections',
      panels: [
        {
          title: 'Database accepts writes',
          description: '1 while the last probe of every process succeeded. Alert: ManagerDatabaseAway.',
          unit: 'bool_yes_no',
          kind: 'stat',
          queries: [gauge('svc_db_writable', { how: 'min' })],
        },
        {
          title: 'Connections in use',
          description:
            'Of the main pool, and how many there may be. Lookups, logs and notifications have their own.',
          unit: 'short',
          queries: [
            gauge('svc_db_pool_in_use', { legend: 'in use {{instance}}' }),
            gauge('svc_db_pool_max', { by: '', legend: 'most' }),
          ],
        },
        {
          title: 'Requests that wait for a connection',
          description: 'At the moment of the scrape. Alert: ManagerPoolWaiting.',
          unit: 'short',
          queries: [gauge('svc_db_pool_waiting')],
        },
      ],
    },
    {
      title: 'Statements',
      panels: [
        {
          title: 'Statements by connections',
          description: 'By the pool they run on.',
          unit: 'ops',
          queries: [perSecond('svc_db_query_duration_seconds_count', { by: 'pool' })],
        },
        {
          title: 'Duration, 99th percentile',
          description:
            'By pool; prepared statements (all but "main" and "report") with the wait for a connection. Alert: ManagerStatementsSlow.',
          unit: 's',
          queries: [percentileBy(0.99, 'svc_db_query_duration_seconds', 'pool')],
        },
        {
          title: 'Duration, median',
          description: 'By pool.',
          unit: 's',
          queries: [percentileBy(0.5, 'svc_db_query_duration_seconds', 'pool')],
        },
        {
          title: 'Requests refused for lack of connections',
          description: 'Answered 503 because too many wait.',
          unit: 'reqps',
          queries: [perSecond('svc_shed_total', { match: 'point="db_pool"' })],
        },
      ],
    },
    {
      title: 'Audit trail',
      panels: [
        {
          title: 'Audit trail is whole',
          description:
            '0 from when something broken is found, by whichever process. Alert: ManagerAuditChainBroken.',
          unit: 'bool_yes_no',
          kind: 'stat',
          queries: [gauge('svc_audit_chain_ok', { by: '', how: 'min', legend: 'whole' })],
        },
        {
          title: 'Age of the last checkpoint',
          description: 'Of the process that did best. Alert: ManagerAuditNotSealed.',
          unit: 's',
          queries: [gauge('svc_audit_checkpoint_age_seconds', { by: '', how: 'min', legend: 'age' })],
        },
        {
          title: 'Checkpoints',
          description: 'Numbers of the newest one, and of the newest up to which everything is verified.',
          unit: 'none',
          queries: [
            gauge('svc_audit_checkpoint_seq', { by: '', legend: 'written' }),
            gauge('svc_audit_chain_verified_seq', { by: '', legend: 'verified' }),
          ],
        },
        {
          title: 'Checkpoints without a copy',
          description: 'In the bucket. Alert: ManagerAuditCopiesLate.',
          unit: 'short',
          queries: [gauge('svc_audit_checkpoint_sink_lag', { by: '', how: 'min', legend: 'without a copy' })],
          mayBeEmpty: 'copies are made only with a bucket (audit.checkpoint_sink)',
        },
      ],
    },
    {
      title: 'Jobs and stored bytes',
      panels: [
        {
          title: 'Periodic jobs that failed',
          description: 'By job. Alert: ManagerSchedulesFailing.',
          unit: 'short',
          queries: [count('svc_job_failures_total', { by: 'exported_job' })],
        },
        {
          title: 'Damaged bundles',
          description: 'Bytes that are missing or are not those of their hash. Alert: ManagerBlobsDamaged.',
          unit: 'short',
          queries: [count('svc_blobs_damaged_total', { by: 'store' })],
        },
        {
          title: 'Failed authentications not counted',
          description: 'Which evidence lacks, because the database was away for too long.',
          unit: 'short',
          queries: [count('svc_auth_failures_dropped_total')],
        },
      ],
    },
  ],
}
