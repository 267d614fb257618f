// F36: connections exhaust the open file limit of a replica. Idle connections must not lock out other callers. When no
// descriptor is free, the replica keeps running, and it serves requests again as soon as descriptors are free.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { type Socket, connect } from 'node:net'
import { personHeaders } from '../installation.ts'
import { pause } from '../children.ts'
import type { CallKind, CallRecord } from '../esb/caller.ts'
import { statusesOf } from '../esb/checkers.ts'
import { type Probe, probeOnce, startProbes } from '../esb/probe.ts'
import type { EsbObserved } from '../esb/checkers.ts'
import { defineEsbRow } from '../esb/row.ts'
import type { EsbStage } from '../esb/stage.ts'
import type { Replica } from '../replicas.ts'
import type { Row } from '../row.ts'
import { mutant, wrongStatus } from '../plant.ts'

type Span = { at: number; until: number }
type Observed = EsbObserved & {
  /**
   * Health checks over new connections during a burst of connections, and over an existing connection while no
   * descriptor is free.
   */
  crowded: Probe[]
  keptAlive: Probe[]
  /** Health checks over new connections while no descriptor is free. */
  lockedOut: Probe[]
  /** When bursts of connections were open, and when no descriptor was free. */
  spans: { crowds: Span[]; exhausted: Span }
  openFiles: number
  recoverMs: number
}

const limit = 480
// The number of free descriptors before the burst.
const leftFiles = 2
const quietMs = 1_500
const connectMs = 2_000
const [perSecond, directPerSecond] = [20, 20]
const crowdSize = 600
const [firstMs, holdMs, exhaustedMs, lastMs] = [2_000, 3_000, 5_000, 3_000]
const maxRecoverMs = 5_000
// Three bursts of connections: connections that send nothing, that never complete their request, or that are idle
// after one request.
const crowds = ['', 'POST /query HTTP/1.1\r\nhost: x\r\n', 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n']

const filesOf = ({ pid }: Replica): number => readdirSync(`/proc/${pid}/fd`).length
const setLimit = ({ pid }: Replica, soft: number): void =>
  void execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${soft}:${limit}`])

/** Opens connections that send `text` and nothing else. */
async function openCrowd(url: string, text: string): Promise<Socket[]> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: crowdSize }, () => connect(Number(port), hostname))
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on('error', () => resolve())
          // The timeout is needed because a replica that accepts no connections would block this call forever.
          setTimeout(resolve, connectMs)
          socket
            .resume()
            .once('connect', () => (text === '' ? resolve() : socket.write(text, () => resolve())))
        }),
    ),
  )
  return sockets
}

async function observe(stage: EsbStage): Promise<Observed> {
  const victim = stage.replicas[0] as Replica
  const health = victim.readyUrl.replace('/readyz', '/healthz')
  const good = stage.goodCall()
  const direct: CallKind = {
    name: 'direct',
    url: `${victim.url}/query`,
    headers: personHeaders(stage.site.adminId),
    body: '{"query":"{ me { id } }"}',
  }
  const through = await stage.caller.start({ kinds: [good], perSecond, usesNewConnections: true })
  const calls = await stage.caller.start({
    kinds: [direct],
    perSecond: directPerSecond,
    usesNewConnections: true,
  })
  await pause(firstMs)
  const spans: Span[] = []
  const probes = startProbes(health, 200)
  let openFiles = 0
  for (const text of crowds) {
    stage.log(`opening ${crowdSize} connections on each port that send ${text.length} bytes`)
    const sockets = [...(await openCrowd(victim.url, text)), ...(await openCrowd(health, text))]
    openFiles = Math.max(openFiles, filesOf(victim))
    const at = Date.now()
    await pause(holdMs)
    spans.push({ at, until: Date.now() })
    for (const socket of sockets) socket.destroy()
  }
  const crowded = await probes.stop()
  const { recoverMs, ...exhausted } = await exhaust(stage, victim, health)
  await pause(lastMs)
  return {
    ...(await stage.history([...(await through.stop()), ...(await calls.stop())])),
    crowded,
    keptAlive: exhausted.keptAlive,
    lockedOut: exhausted.lockedOut,
    spans: { crowds: spans, exhausted: exhausted.span },
    openFiles,
    recoverMs,
  }
}

/**
 * Lowers the limit to a few free descriptors, waits until a burst of connections has used them, then restores the
 * limit.
 */
async function exhaust(
  stage: EsbStage,
  victim: Replica,
  health: string,
): Promise<Pick<Observed, 'keptAlive' | 'lockedOut' | 'recoverMs'> & { span: Span }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  // Waits until the connections of the bursts are closed.
  await pause(quietMs)
  await probeOnce(health, agent)
  stage.log('using up all file descriptors')
  const at = Date.now()
  setLimit(victim, filesOf(victim) + leftFiles)
  const [keptAlive, fresh] = [startProbes(health, 100, agent), startProbes(health, 200)]
  const crowd = await openCrowd(victim.url, '')
  await pause(exhaustedMs)
  const span = { at, until: Date.now() }
  const [keptProbes, lockedOut] = [await keptAlive.stop(), await fresh.stop()]
  setLimit(victim, limit)
  const healed = Date.now()
  for (const socket of crowd) socket.destroy()
  let recoverMs = Infinity
  for (; recoverMs === Infinity && Date.now() - healed < 30_000; await pause(100)) {
    const answers = [await probeOnce(health), await probeOnce(victim.readyUrl)]
    if (answers.every(({ status }) => status === 200)) recoverMs = Date.now() - healed
  }
  agent.destroy()
  return { keptAlive: keptProbes, lockedOut, span, recoverMs }
}

const within = (calls: readonly CallRecord[], { at, until }: Span): CallRecord[] =>
  calls.filter(({ start, ms }) => start >= at && start + ms <= until)
/**
 * Excludes the time during which a burst connects: a new connection may evict an older one before its request arrives.
 */
const findCrowdedCalls = ({ calls, spans }: Observed): CallRecord[] =>
  spans.crowds.flatMap((span) => within(calls, span))
const isIn = (spans: readonly Span[], time: number): boolean =>
  spans.some(({ at, until }) => time >= at && time < until)
// ESB calls may use only some of the descriptors. That number is small here, so ESB calls may receive 503.
const isLockedOut = ({ kind, status }: CallRecord): boolean =>
  status !== 200 && !(kind === 'good' && status === 503)
const described = ({ kind, status, problem }: CallRecord): string => `${kind} ${status} ${problem}`
const unhealthy = (probes: readonly Probe[]): string[] =>
  probes
    .filter(({ status }) => status !== 200)
    .map(({ status, ms }) => `${status} after ${Math.round(ms)} ms`)
const excused = new Set([0, 200, 502, 503])

export const f36: Row = defineEsbRow<Observed>({
  id: 'F36',
  title: `connections use up the ${limit} file descriptors of one of three replicas`,
  setup: () => ({
    replicas: 3,
    postgres: 'patroni',
    withSentinel: true,
    openFiles: [limit],
    // Threads also use descriptors.
    env: { SVC_CREDENTIALS_KDF_THREADS: '1' },
  }),
  limitSeconds: 120,
  observe,
  judge: (figures, observed) => {
    const { crowds, exhausted } = observed.spans
    const duringCrowd = findCrowdedCalls(observed)
    figures.none('healthz', unhealthy(observed.crowded.filter(({ at }) => isIn(crowds, at))))
    figures.show('healthz_lost_in_burst', unhealthy(observed.crowded).length)
    figures.none('healthz_kept_alive', unhealthy(observed.keptAlive))
    figures.show('healthz_ms', Math.max(...observed.crowded.map(({ ms }) => ms)))
    figures.none('locked_out', duringCrowd.filter(isLockedOut).map(described))
    figures.show('refused_in_crowd', duringCrowd.filter(({ status }) => status === 503).length)
    figures.atLeast('calls_in_crowd', duringCrowd.length, 50)
    figures.show('open_files', observed.openFiles)
    figures.atMost('files_over', observed.openFiles - limit, 0)
    // If every connection succeeded, the descriptors were not exhausted.
    const refused = within(observed.calls, exhausted).filter(({ status }) => status !== 200)
    figures.atLeast('refused_without_files', unhealthy(observed.lockedOut).length + refused.length, 2)
    figures.none('wrong_status', observed.calls.filter(({ status }) => !excused.has(status)).map(described))
    figures.show('statuses_without_files', statusesOf(within(observed.calls, exhausted)))
    figures.atMost('recover_ms', observed.recoverMs, maxRecoverMs)
    const after = observed.calls.filter(({ start }) => start > exhausted.until + maxRecoverMs / 2)
    figures.none('failed_after', after.filter(({ status }) => status !== 200).map(described))
    figures.atLeast('passed_after', after.length, 10)
  },
  mutants: [
    mutant('health checks fail during the crowd', 'healthz', (observed) => ({
      crowded: observed.crowded.map((probe) => ({ ...probe, status: 0 })),
    })),
    mutant('health checks fail without free descriptors', 'healthz_kept_alive', (observed) => ({
      keptAlive: [...observed.keptAlive, { at: 0, ms: 10, status: 500 }],
    })),
    mutant('the crowd locks out a caller', 'locked_out', (observed) => {
      const key = findCrowdedCalls(observed)[0]?.key
      return {
        calls: observed.calls.map((call) => (call.key === key ? { ...call, status: 0 } : call)),
      }
    }),
    wrongStatus(),
    mutant('the replica does not recover', 'recover_ms', () => ({ recoverMs: 30_000 })),
    mutant('calls fail after the recovery', 'failed_after', (observed) => ({
      calls: observed.calls.map((call) =>
        call.start > observed.spans.exhausted.until + maxRecoverMs / 2 ? { ...call, status: 502 } : call,
      ),
    })),
  ],
})
