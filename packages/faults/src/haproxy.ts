// HAProxy in front of the replicas. It distributes requests and sockets round-robin to the replicas that are
// ready. It retries a failed connection at a different replica, but never a request that may have been
// processed. Replicas use server slots that are configured in advance.
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type Child, endChild, startChild, until } from './children.ts'
import type { Replica } from './replicas.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

type Target = Pick<Replica, 'url' | 'readyUrl'>
type BalancerStats = {
  /** Failed connections that were retried, at the same or a different replica. */
  retried: number
  /** Requests that reached no replica. */
  unconnected: number
  /** 5xx responses, including those of HAProxy itself. */
  serverErrors: number
}
export type Balancer = {
  url: string
  /** Routes requests to the replica as soon as it is ready. */
  add(replica: Target): Promise<void>
  /** Stops routing requests to the replica. Requests in flight continue. */
  remove(replica: Target): Promise<void>
  /** Number of replicas that currently receive requests. */
  ready(): Promise<number>
  stats(): Promise<BalancerStats>
  /**
   * From now on, replaces the first proxy secret with the second one in all requests, as a proxy with a new
   * configuration would.
   */
  replaceSecret(previous: string, next: string): Promise<void>
  end(): Promise<void>
}

const slotCount = 32
const checks = 'inter 200ms fastinter 200ms downinter 200ms rise 1 fall 1'

// A frozen replica is removed after the check timeout, and a draining replica at the next check. Sessions of
// a replica that is no longer ready continue, because the replica ends them itself.
const configOf = (port: number, socket: string, secrets: string): string => `global
  maxconn 25000
  no strict-limits
  nbthread 1
  stats socket ${socket} mode 600 level admin
defaults
  mode http
  option http-keep-alive
  http-reuse never
  option redispatch 1
  retries 3
  retry-on conn-failure
  timeout connect 1s
  timeout client 120s
  timeout server 120s
  timeout http-request 30s
  timeout http-keep-alive 120s
  timeout tunnel 1h
  timeout queue 5s
  timeout check 2s
  http-error status 503 content-type application/json string '{"error":"no replica is ready"}' hdr Retry-After 1
frontend api
  bind 127.0.0.1:${port}
  http-request set-header x-proxy-auth %[req.hdr(x-proxy-auth),map_str(${secrets})] if { req.hdr(x-proxy-auth),map_str(${secrets}) -m found }
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  server-template slot 1-${slotCount} 127.0.0.1:1 check port 1 ${checks} disabled
`

/** Sends a command to the runtime API and resolves with the output. */
const sendCommand = (socket: string, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let output = ''
    const client = connect(socket, () => client.end(`${command}\n`))
    client.setEncoding('utf8').on('data', (text) => (output += String(text)))
    client.once('error', reject).once('end', () => resolve(output.trim()))
  })

/** Returns the rows of `show stat` by column name. */
async function readStats(socket: string): Promise<Record<string, string>[]> {
  const [head = '', ...lines] = (await sendCommand(socket, 'show stat')).split('\n')
  const names = head.replace('# ', '').split(',')
  return lines.map((line) => {
    const values = line.split(',')
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
  })
}

async function statsOf(socket: string): Promise<BalancerStats> {
  const rows = await readStats(socket)
  const sum = (type: 'FRONTEND' | 'BACKEND', column: string): number =>
    rows.filter(({ svname }) => svname === type).reduce((total, row) => total + Number(row[column] ?? 0), 0)
  return {
    retried: sum('BACKEND', 'wretr') + sum('BACKEND', 'wredis'),
    unconnected: sum('BACKEND', 'econ'),
    serverErrors: sum('FRONTEND', 'hrsp_5xx'),
  }
}

/** Starts HAProxy and waits until all replicas are ready. */
export async function startBalancer(folder: string, replicas: readonly Target[]): Promise<Balancer> {
  const port = await freePort()
  const [config, socket, secrets] = ['cfg', 'sock', 'map'].map(
    (kind) => `${folder}/balancer-${port}.${kind}`,
  ) as [string, string, string]
  writeFileSync(secrets, '')
  writeFileSync(config, configOf(port, socket, secrets))
  const child: Child = startChild({
    program: 'haproxy',
    args: ['-db', '-f', config],
    env: {},
    logFile: `${folder}/balancer.log`,
  })
  const slotByUrl = new Map<string, number>()
  /** A successful command prints nothing or a note about the change. Throws on any other output. */
  const set = async (slot: number, what: string): Promise<void> => {
    const output = await sendCommand(socket, `set server replicas/slot${slot} ${what}`)
    if (output !== '' && !output.includes('changed from') && !output.includes('no need to change'))
      throw new Error(`HAProxy rejected "${what}": ${output}`)
  }
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    add: async ({ url, readyUrl }) => {
      if (slotByUrl.has(url)) return
      const used = new Set(slotByUrl.values())
      const slot = Array.from({ length: slotCount }, (_, index) => index + 1).find(
        (number) => !used.has(number),
      )
      if (slot === undefined) throw new Error(`HAProxy has only ${slotCount} server slots`)
      slotByUrl.set(url, slot)
      await set(slot, `addr 127.0.0.1 port ${new URL(url).port}`)
      await set(slot, `check-port ${new URL(readyUrl).port}`)
      await set(slot, 'state ready')
      // The replica is down until its first successful check.
      await set(slot, 'health down')
    },
    remove: async ({ url }) => {
      const slot = slotByUrl.get(url)
      if (slot === undefined) return
      await set(slot, 'state maint')
      slotByUrl.delete(url)
    },
    ready: async () =>
      (await readStats(socket)).filter(
        ({ svname = '', status = '' }) => svname.startsWith('slot') && status.startsWith('UP'),
      ).length,
    stats: () => statsOf(socket),
    replaceSecret: async (previous, next) => {
      const output = await sendCommand(socket, `add map ${secrets} ${previous} ${next}`)
      if (output !== '') throw new Error(`HAProxy rejected "add map": ${output}`)
    },
    end: () => endChild(child),
  }
  await until('the start of HAProxy', 20_000, async () => (await sendCommand(socket, 'show info')) !== '')
  for (const replica of replicas) await balancer.add(replica)
  await until('all replicas to be ready', 20_000, async () => (await balancer.ready()) === replicas.length)
  return balancer
}
