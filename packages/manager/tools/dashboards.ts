// What each audience sees on its Grafana dashboard; `npm run generate` writes deploy/observability/dashboards/.
import {
  type Dashboard,
  type Panel,
  count,
  gauge,
  mean,
  percentileBy,
  percentiles,
  perSecond,
  share,
} from './dashboard-frame.ts'
import { comms, database, triggers } from './dashboards-work.ts'

const requests = 'svc_http_request_duration_seconds'
const withoutCalls = 'route!~"/esb/.*", status!="101"'

const loop: Panel = {
  title: 'Event loop, 99th percentile',
  description:
    'How late the event loop comes round. 10 ms are normal: the watch has that resolution. From a second on, requests are refused.',
  unit: 's',
  queries: [gauge('svc_nodejs_eventloop_lag_p99_seconds')],
}
const processPanels: Panel[] = [
  {
    title: 'Processors',
    description:
      'Processors in use, by process; hashing and rendering run in threads and may take more than one.',
    unit: 'none',
    queries: [perSecond('svc_process_cpu_seconds_total')],
  },
  {
    title: 'Memory',
    description: 'Resident memory, by process.',
    unit: 'bytes',
    queries: [gauge('svc_process_resident_memory_bytes')],
  },
  loop,
  {
    title: 'Requests refused for overload',
    description: 'Answered 503, or closed without a response (connections), by what is full.',
    unit: 'reqps',
    queries: [perSecond('svc_shed_total', { by: 'point' })],
  },
  {
    title: 'Open files',
    description: 'Share of the files that a process may open.',
    unit: 'percentunit',
    queries: [
      {
        expr: 'max by (instance) (svc_process_open_fds{job="$job", instance=~"$instance"} / svc_process_max_fds{job="$job", instance=~"$instance"})',
        legend: '{{instance}}',
      },
    ],
  },
  {
    title: 'Garbage collection',
    description: 'Share of the time that is spent collecting garbage, by process.',
    unit: 'percentunit',
    queries: [perSecond('svc_nodejs_gc_duration_seconds_sum')],
  },
]

const api: Dashboard = {
  name: 'api',
  title: 'Manager: API',
  description: 'Requests, credentials and processes of the Manager.',
  rows: [
    {
      title: 'Requests',
      panels: [
        {
          title: 'Requests by route',
          description: 'All requests of the API port; unknown addresses are "unknown".',
          unit: 'reqps',
          queries: [perSecond(`${requests}_count`, { by: 'route' })],
        },
        {
          title: 'Requests by status',
          description: 'All requests of the API port.',
          unit: 'reqps',
          queries: [perSecond(`${requests}_count`, { by: 'status' })],
        },
        {
          title: 'Share of 5xx',
          description:
            'Of all requests but ESB calls, whose 502 is mostly the partner. Alert: ManagerErrors.',
          unit: 'percentunit',
          queries: [share(`${requests}_count`, 'status=~"5.."', { of: withoutCalls, legend: '5xx' })],
        },
        {
          title: 'Duration',
          description: 'All requests but ESB calls and websockets. Durations above 5 s are shown as 5 s.',
          unit: 's',
          queries: percentiles(requests, withoutCalls),
        },
        {
          title: 'Duration by route, 99th percentile',
          description: 'Durations above 5 s are shown as 5 s.',
          unit: 's',
          queries: [percentileBy(0.99, requests, 'route', withoutCalls)],
        },
        {
          title: 'Requests in flight',
          description: 'By process, at the moment of the scrape.',
          unit: 'short',
          queries: [gauge('svc_http_inflight')],
        },
      ],
    },
    {
      title: 'Credentials',
      panels: [
        {
          title: 'Credentials examined',
          description: 'By kind and outcome; "failed" was answered 503.',
          unit: 'ops',
          queries: [perSecond('svc_auth_total', { by: 'kind, outcome' })],
        },
        {
          title: 'Slow hashes',
          description:
            'Runs of the slow hash, and secrets that this process had to hash (miss) or knows. After a start each token is hashed once.',
          unit: 'ops',
          queries: [
            perSecond('svc_auth_kdf_runs_total', { legend: 'hashes {{instance}}' }),
            perSecond('svc_auth_cache_total', { by: 'outcome' }),
          ],
        },
        {
          title: 'Blocked clients',
          description: 'Blocks that began, by throttle. Alert: ManagerLockouts.',
          unit: 'short',
          queries: [count('svc_lockouts_total', { by: 'throttle' })],
        },
        {
          title: 'Refused by the gate',
          description:
            'Requests without the right proxy secret or without a user. Alert: ManagerGateRejections.',
          unit: 'reqps',
          queries: [perSecond('svc_gate_rejections_total', { by: 'reason' })],
        },
        {
          title: 'Logins from terminals',
          description: 'By what happened to them.',
          unit: 'short',
          queries: [count('svc_cli_logins_total', { by: 'event' })],
        },
        {
          title: 'Uploads of pilets',
          description: 'By what became of them.',
          unit: 'short',
          queries: [count('svc_pilet_uploads_total', { by: 'outcome' })],
        },
        {
          title: 'Wakes of deployments',
          description: 'Calls of the orchestrator, by what became of them. Alert: ManagerWakesFailing.',
          unit: 'short',
          queries: [count('svc_deployment_wakes_total', { by: 'outcome' })],
        },
      ],
    },
    {
      title: 'Caches and Redis',
      panels: [
        {
          title: 'Served from caches',
          description: 'Share of requests to each cache that did not have to be built.',
          unit: 'percentunit',
          queries: [share('svc_cache_requests_total', 'outcome="hit"', { by: 'cache' })],
        },
        {
          title: 'Bytes of bundles held',
          description: 'By uploads and responses under way.',
          unit: 'bytes',
          queries: [
            gauge('svc_pilet_upload_bytes', { by: '', how: 'sum', legend: 'uploads' }),
            gauge('svc_pilet_send_bytes', { by: '', how: 'sum', legend: 'responses' }),
          ],
        },
        {
          title: 'Redis away',
          description: '1 while a process cannot reach Redis. Alert: ManagerRedisAway.',
          unit: 'bool_yes_no',
          queries: [gauge('svc_redis_degraded')],
        },
      ],
    },
    { title: 'Processes', panels: processPanels },
    {
      title: 'Releases and logs',
      panels: [
        {
          title: 'Processes by release',
          description: 'How many processes run which release. Alert: ManagerVersionsMixed.',
          unit: 'none',
          kind: 'stat',
          queries: [gauge('svc_build_info', { by: 'version', how: 'sum' })],
        },
        {
          title: 'Log lines dropped',
          description: 'Because standard output was not read in time.',
          unit: 'short',
          queries: [count('svc_log_lines_dropped_total')],
        },
        {
          title: 'Spans',
          description: 'Spans of traces that the collector took, did not take, or that were dropped before.',
          unit: 'short',
          queries: [count('svc_trace_spans_total', { by: 'outcome' })],
        },
        {
          title: 'Development escape hatch',
          description: '1 while requests need no proxy secret. Alert: ManagerEscapeHatchOpen.',
          unit: 'bool_yes_no',
          kind: 'stat',
          queries: [gauge('svc_dev_override_active', { by: '', legend: 'open' })],
        },
      ],
    },
  ],
}

const calls = 'svc_esb_forward_duration_seconds'
const gateway: Dashboard = {
  name: 'gateway',
  title: 'Manager: gateway',
  description: 'ESB calls of backends to partners.',
  rows: [
    {
      title: 'Calls',
      panels: [
        {
          title: 'Calls by outcome',
          description:
            'Calls that found their endpoint: answered by the partner, failed (502), refused here, abandoned by the caller.',
          unit: 'reqps',
          queries: [perSecond(`${calls}_count`, { by: 'outcome' })],
        },
        {
          title: 'Share of failed calls',
          description: 'The partner did not respond, or not correctly. Alert: ManagerPartnersFailing.',
          unit: 'percentunit',
          queries: [share(`${calls}_count`, 'outcome="failed"', { legend: 'failed' })],
        },
        {
          title: 'Duration of answered calls',
          description: 'From the request to the end of the response, with the partner. Above 30 s: 30 s.',
          unit: 's',
          queries: percentiles(calls, 'outcome="answered"'),
        },
        {
          title: 'Statuses that callers get',
          description: "Of /esb/*, the partner's own statuses included.",
          unit: 'reqps',
          queries: [perSecond(`${requests}_count`, { by: 'status', match: 'route=~"/esb/.*"' })],
        },
        {
          title: 'Failures by application',
          description:
            'Calls that the Manager answered with 500, 502 or 503, or cut; the first 200 applications, then "other".',
          unit: 'reqps',
          queries: [perSecond('svc_esb_failures_total', { by: 'application' })],
        },
        {
          title: 'Machine tokens',
          description: 'Examined for calls and machine routes, by outcome.',
          unit: 'ops',
          queries: [perSecond('svc_auth_total', { by: 'outcome', match: 'kind="bearer"' })],
        },
      ],
    },
    {
      title: 'Call log',
      panels: [
        {
          title: 'Time to write',
          description: 'A statement with its commit; every call waits for two. Alert: ManagerCallLogSlow.',
          unit: 's',
          queries: percentiles('svc_esb_audit_batch_seconds'),
        },
        {
          title: 'Rows per statement',
          description: 'More under load: calls share statements.',
          unit: 'short',
          queries: [mean('svc_esb_audit_batch_rows', 'mean')],
        },
        {
          title: 'Statements of the log',
          description: '99th percentile, with the wait for a connection.',
          unit: 's',
          queries: [percentileBy(0.99, 'svc_db_query_duration_seconds', 'pool', 'pool="log"')],
        },
      ],
    },
    {
      title: 'Load',
      panels: [
        {
          title: 'Endpoints from memory',
          description: 'Share of calls whose endpoint was in the cache.',
          unit: 'percentunit',
          queries: [
            share('svc_cache_requests_total', 'outcome="hit"', { of: 'cache="esb_target"', legend: 'hit' }),
          ],
        },
        {
          title: 'Calls refused for overload',
          description:
            'After they were admitted: too many calls in flight, or bodies that wait for a template.',
          unit: 'reqps',
          queries: [perSecond('svc_shed_total', { match: 'point="esb"' })],
        },
        loop,
      ],
    },
  ],
}

/** One for each audience. */
export const dashboards: Dashboard[] = [api, gateway, triggers, comms, database]
