// The settings of websockets.
import { duration, integer, setting } from '../../config/readers.ts'

export const socketSettings = {
  commsMaxSockets: setting(integer(2, 1_000_000), {
    key: 'comms.max_sockets',
    env: 'SVC_COMMS_MAX_SOCKETS',
    default: 10_000,
    doc: 'Websockets that a process holds at once, one project four fifths of them; fewer where the limit of open files does not allow that many. Further ones are answered 503.',
  }),
  commsPingIntervalMs: setting(duration(1_000, 300_000), {
    key: 'comms.ping_interval',
    env: 'SVC_COMMS_PING_INTERVAL',
    default: 25_000,
    doc: 'How often a `ping` is sent on a websocket; keep it below the time after which your proxy ends idle connections.',
  }),
  commsPongTimeoutMs: setting(duration(100, 120_000), {
    key: 'comms.pong_timeout',
    env: 'SVC_COMMS_PONG_TIMEOUT',
    default: 10_000,
    doc: 'How long the `pong` may take before the websocket is closed; shorter than the interval.',
  }),
  commsSocketMaxAgeMs: setting(duration(1_000, 86_400_000), {
    key: 'comms.socket_max_age',
    env: 'SVC_COMMS_SOCKET_MAX_AGE',
    default: 3_600_000,
    doc: 'How long a websocket lives, give or take a tenth; its client then opens another one, through the proxy and its sign-in.',
  }),
  commsReconnectJitterMs: setting(duration(0, 300_000), {
    key: 'comms.reconnect_jitter',
    env: 'SVC_COMMS_RECONNECT_JITTER',
    default: 5_000,
    doc: 'Clients whose websocket was closed wait for a random part of this before they come back.',
  }),
  commsAccessCheckMs: setting(duration(1_000, 3_600_000), {
    key: 'comms.access_check_interval',
    env: 'SVC_COMMS_ACCESS_CHECK_INTERVAL',
    default: 60_000,
    doc: 'How often the access of every websocket is checked. Changes of memberships, roles, tenants and applications are noticed within seconds, whatever this is.',
  }),
} as const
