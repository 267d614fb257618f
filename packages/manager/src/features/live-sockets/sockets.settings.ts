import { duration, integer, defineSetting } from '../../config/readers.ts'

export const socketSettings = {
  commsMaxSockets: defineSetting(integer(2, 1_000_000), {
    key: 'comms.max_sockets',
    env: 'SVC_COMMS_MAX_SOCKETS',
    default: 10_000,
    doc: 'Maximum number of open websockets per process. The limit on open files can reduce it. One project can use at most four fifths of them. Further connections return 503.',
  }),
  commsPingIntervalMs: defineSetting(duration(1_000, 300_000), {
    key: 'comms.ping_interval',
    env: 'SVC_COMMS_PING_INTERVAL',
    default: 25_000,
    doc: 'Interval at which the Manager sends a `ping` on a websocket. Keep it below the idle timeout of your proxy.',
  }),
  commsPongTimeoutMs: defineSetting(duration(100, 120_000), {
    key: 'comms.pong_timeout',
    env: 'SVC_COMMS_PONG_TIMEOUT',
    default: 10_000,
    doc: 'Maximum time to wait for a `pong` before the Manager closes the websocket. It must be at most nine tenths of `comms.ping_interval`.',
  }),
  commsSocketMaxAgeMs: defineSetting(duration(1_000, 86_400_000), {
    key: 'comms.socket_max_age',
    env: 'SVC_COMMS_SOCKET_MAX_AGE',
    default: 3_600_000,
    doc: 'Lifetime of a websocket, plus or minus 10 %. The client then opens a new one, through the proxy and its sign-in.',
  }),
  commsReconnectJitterMs: defineSetting(duration(0, 300_000), {
    key: 'comms.reconnect_jitter',
    env: 'SVC_COMMS_RECONNECT_JITTER',
    default: 5_000,
    doc: 'Maximum delay before a client reconnects after its websocket is closed. Each client waits a random fraction of this delay.',
  }),
  commsAccessCheckMs: defineSetting(duration(1_000, 3_600_000), {
    key: 'comms.access_check_interval',
    env: 'SVC_COMMS_ACCESS_CHECK_INTERVAL',
    default: 60_000,
    doc: 'Interval at which the Manager checks the access of every websocket. Changes to memberships, roles, tenants and applications take effect within seconds, regardless of this setting.',
  }),
} as const
