// Configuration of etcd, Patroni and HAProxy: three nodes, each with its own etcd, and one port that forwards to the
// leader.
import { execFileSync } from 'node:child_process'

/** The host and ports of a cluster node. */
export type Node = {
  number: number
  host: string
  postgres: number
  rest: number
  etcdClient: number
  etcdPeer: number
}
export type Layout = {
  dir: string
  nodes: readonly Node[]
  readWritePort: number
  /** Folder with PostgreSQL's programs. */
  bin: string
  /** Networks that may connect without a password. */
  trusted: readonly string[]
}

const maxConnections = 300

function patroniVersion(): number[] {
  const text = execFileSync('patroni', ['--version'], { encoding: 'utf8' })
  return (text.trim().split(' ').at(-1) ?? '').split('.').map(Number)
}

const isOlderThan = (
  version: readonly number[],
  [major, minor, patch]: [number, number, number],
): boolean => {
  const [a = 0, b = 0, c = 0] = version
  return a !== major ? a < major : b !== minor ? b < minor : c < patch
}

/**
 * Selects the etcd API and the TTL of the leader's lease. Before 3.0.3, Patroni renews the lease through etcd's v3 API
 * without comparing it. As a result, a paused leader takes the lease back from its successor, and commits are lost.
 * Since 4.0, Patroni rejects a short TTL.
 */
export function etcdSettings(version = patroniVersion()): { section: string; isV2: boolean; ttl: number } {
  const isV2 = isOlderThan(version, [3, 0, 3])
  return { section: isV2 ? 'etcd' : 'etcd3', isV2, ttl: isOlderThan(version, [4, 0, 0]) ? 5 : 20 }
}

export function etcdArgs({ dir, nodes }: Layout, node: Node, isV2: boolean): string[] {
  const client = `http://${node.host}:${node.etcdClient}`
  const peer = `http://${node.host}:${node.etcdPeer}`
  const peers = nodes.map(({ number, host, etcdPeer }) => `etcd${number}=http://${host}:${etcdPeer}`)
  const options: Record<string, string> = {
    name: `etcd${node.number}`,
    'data-dir': `${dir}/node${node.number}/etcd`,
    logger: 'zap',
    'log-level': 'warn',
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': peers.join(','),
    'initial-cluster-token': dir,
    'initial-cluster-state': 'new',
    'auto-compaction-mode': 'revision',
    'auto-compaction-retention': '1000',
    ...(isV2 ? { 'enable-v2': 'true' } : {}),
  }
  return Object.entries(options).map(([name, value]) => `--${name}=${value}`)
}

/** Returns the Patroni configuration of a node as JSON, which is valid YAML. */
export function patroniConfig(layout: Layout, node: Node): string {
  const { dir, nodes, bin, trusted } = layout
  const { section, ttl } = etcdSettings()
  const rest = `${node.host}:${node.rest}`
  const postgres = `${node.host}:${node.postgres}`
  return JSON.stringify({
    scope: 'faults',
    name: `node${node.number}`,
    restapi: { listen: rest, connect_address: rest },
    [section]: { hosts: nodes.map(({ host, etcdClient }) => `${host}:${etcdClient}`) },
    watchdog: { mode: 'off', safety_margin: -1 },
    bootstrap: {
      dcs: clusterSettings(ttl),
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: postgres,
      connect_address: postgres,
      data_dir: `${dir}/node${node.number}/data`,
      bin_dir: bin,
      pgpass: `${dir}/node${node.number}/pgpass`,
      parameters: { unix_socket_directories: `${dir}/node${node.number}` },
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'replicator' } },
      pg_hba: [
        'local all all trust',
        ...trusted.flatMap((cidr) => [`host all all ${cidr} trust`, `host replication all ${cidr} trust`]),
      ],
      create_replica_methods: ['basebackup'],
      // Requests an immediate checkpoint. With the default spread checkpoint, copying a node would take minutes.
      basebackup: [{ checkpoint: 'fast' }],
    },
  })
}

/**
 * Strict synchronous mode: a commit is acknowledged only after a standby has it. Without a standby, no commit
 * succeeds.
 */
const clusterSettings = (ttl: number) => ({
  ttl,
  loop_wait: 1,
  retry_timeout: 2,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  postgresql: {
    use_pg_rewind: true,
    use_slots: true,
    parameters: {
      max_connections: maxConnections,
      wal_keep_size: '256MB',
      shared_buffers: '64MB',
      synchronous_commit: 'on',
      // The retry interval of a streaming standby. The default of 5 s would prolong every failover.
      wal_retrieve_retry_interval: '200ms',
      wal_receiver_timeout: '10s',
      wal_sender_timeout: '10s',
      log_line_prefix: '%m [%p] ',
    },
  },
})

/**
 * Configures one read-write port that forwards to the leader. When a node loses leadership, its sessions are closed, so
 * that no client talks to an old leader. The check uses OPTIONS, because Patroni logs a traceback for each unread GET
 * body.
 */
export const haproxyConfig = ({ nodes, readWritePort }: Layout): string => `global
  maxconn 2000
defaults
  mode tcp
  option redispatch
  retries 2
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
  timeout queue 5s
  default-server inter 500ms fastinter 250ms downinter 250ms fall 2 rise 1 on-marked-down shutdown-sessions
listen read_write
  bind 127.0.0.1:${readWritePort}
  option httpchk OPTIONS /primary
${nodes
  .map(
    ({ number, host, postgres, rest }) =>
      `  server node${number} ${host}:${postgres} check port ${rest} maxconn ${maxConnections}\n`,
  )
  .join('')}`
