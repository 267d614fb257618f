// HAProxy in front of the replicas: sends requests and sockets to those that are ready, in turn. A connection that fails is
// tried at another replica; a request that may have been processed never is. Replicas come and go in prepared places.
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type Child, endChild, startChild, until } from './children.ts'
import type { Replica } from './replicas.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

type Target = Pick<Replica, 'url' | 'readyUrl'>
type BalancerStats = {
  /** Connections that failed, and were tried again or at another replica. */
  retried: number
  /** Requests that reached no replica. */
  unconnected: number
  /** Answers with a 5xx, also its own. */
  serverErrors: number
}
export type Balancer = {
  url: string
  /** Lets it have requests as soon as it is ready. */
  add(replica: Target): Promise<void>
  /** Lets it have no more requests; those it has go on. */
  remove(replica: Target): Promise<void>
  /** How many replicas get requests at the moment. */
  ready(): Promise<number>
  stats(): Promise<BalancerStats>
  /** Sends another proxy secret from now on in the place of this one, as a proxy does that was told the new one. */
  replaceSecret(former: string, next: string): Promise<void>
  end(): Promise<void>
}

const places = 32
const checks = 'inter 200ms fastinter 200ms downinter 200ms rise 1 fall 1'

// A replica that hangs is out after the check's timeout; one that says that it drains, at once. Sessions of a replica that
// is not ready any more go on, since it ends them itself.
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
  server-template place 1-${places} 127.0.0.1:1 check port 1 ${checks} disabled
`

/** Gives the runtime API a command and resolves with what it says. */
const tell = (socket: string, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    const client = connect(socket, () => client.end(`${command}\n`))
    client.setEncoding('utf8').on('data', (text) => (said += String(text)))
    client.once('error', reject).once('end', () => resolve(said.trim()))
  })

/** Rows of `show stat`, by column. */
async function readStats(socket: string): Promise<Record<string, string>[]> {
  const [head = '', ...lines] = (await tell(socket, 'show stat')).split('\n')
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

/** Starts it and waits until it sees all of them ready. */
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
  const taken = new Map<string, number>()
  /** Each command succeeds without a word, or with a note of what it changed. */
  const set = async (place: number, what: string): Promise<void> => {
    const said = await tell(socket, `set server replicas/place${place} ${what}`)
    if (said !== '' && !said.includes('changed from') && !said.includes('no need to change'))
      throw new Error(`HAProxy, ${what}: ${said}`)
  }
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    add: async ({ url, readyUrl }) => {
      if (taken.has(url)) return
      const used = new Set(taken.values())
      const place = Array.from({ length: places }, (_, index) => index + 1).find(
        (number) => !used.has(number),
      )
      if (place === undefined) throw new Error(`HAProxy has places for ${places} replicas`)
      taken.set(url, place)
      await set(place, `addr 127.0.0.1 port ${new URL(url).port}`)
      await set(place, `check-port ${new URL(readyUrl).port}`)
      await set(place, 'state ready')
      // Until the first check says otherwise.
      await set(place, 'health down')
    },
    remove: async ({ url }) => {
      const place = taken.get(url)
      if (place === undefined) return
      await set(place, 'state maint')
      taken.delete(url)
    },
    ready: async () =>
      (await readStats(socket)).filter(
        ({ svname = '', status = '' }) => svname.startsWith('place') && status.startsWith('UP'),
      ).length,
    stats: () => statsOf(socket),
    replaceSecret: async (former, next) => {
      const said = await tell(socket, `add map ${secrets} ${former} ${next}`)
      if (said !== '') throw new Error(`HAProxy, add map: ${said}`)
    },
    end: () => endChild(child),
  }
  await until('the start of HAProxy', 20_000, async () => (await tell(socket, 'show info')) !== '')
  for (const replica of replicas) await balancer.add(replica)
  await until('all replicas being ready', 20_000, async () => (await balancer.ready()) === replicas.length)
  return balancer
}
