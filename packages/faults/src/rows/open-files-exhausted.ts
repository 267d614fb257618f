// F36: connections take every file that a replica may have open. Those that do nothing keep nobody out; when no file is left
// at all the replica does not end, and it serves again as soon as there are some.
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
  /** Health over new connections during the crowds, and over a kept one while no file is left. */
  crowded: Probe[]
  kept: Probe[]
  /** Health over new connections while no file is left. */
  keptOut: Probe[]
  /** When crowds were connected, and when no file was left. */
  spans: { crowds: Span[]; exhausted: Span }
  openFiles: number
  recoverMs: number
}

const limit = 480
// Beyond those that are open when the crowd comes.
const leftFiles = 2
const quietMs = 1_500
const connectMs = 2_000
const [perSecond, directPerSecond] = [20, 20]
const crowdSize = 600
const [firstMs, holdMs, exhaustedMs, lastMs] = [2_000, 3_000, 5_000, 3_000]
const mostRecoverMs = 5_000
// Say nothing, never end their request, have asked once.
const crowds = ['', 'POST /query HTTP/1.1\r\nhost: x\r\n', 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n']

const filesOf = ({ pid }: Replica): number => readdirSync(`/proc/${pid}/fd`).length
const setLimit = ({ pid }: Replica, soft: number): void =>
  void execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${soft}:${limit}`])

/** Opens connections that send this and then nothing more. */
async function openCrowd(url: string, text: string): Promise<Socket[]> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: crowdSize }, () => connect(Number(port), hostname))
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.on('error', () => resolve())
          // A replica that accepts nobody leaves them waiting.
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
  const through = await stage.caller.start({ kinds: [good], perSecond, isFresh: true })
  const calls = await stage.caller.start({ kinds: [direct], perSecond: directPerSecond, isFresh: true })
  await pause(firstMs)
  const spans: Span[] = []
  const probes = startProbes(health, 200)
  let openFiles = 0
  for (const text of crowds) {
    stage.say(`${crowdSize} connections on each port that send ${text.length} bytes`)
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
    kept: exhausted.kept,
    keptOut: exhausted.keptOut,
    spans: { crowds: spans, exhausted: exhausted.span },
    openFiles,
    recoverMs,
  }
}

/** Leaves a few files, which a crowd takes; then gives them back. */
async function exhaust(
  stage: EsbStage,
  victim: Replica,
  health: string,
): Promise<Pick<Observed, 'kept' | 'keptOut' | 'recoverMs'> & { span: Span }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  // What the crowds have left is closed by then.
  await pause(quietMs)
  await probeOnce(health, agent)
  stage.say('no file is left')
  const at = Date.now()
  setLimit(victim, filesOf(victim) + leftFiles)
  const [kept, fresh] = [startProbes(health, 100, agent), startProbes(health, 200)]
  const crowd = await openCrowd(victim.url, '')
  await pause(exhaustedMs)
  const span = { at, until: Date.now() }
  const [keptProbes, keptOut] = [await kept.stop(), await fresh.stop()]
  setLimit(victim, limit)
  const healed = Date.now()
  for (const socket of crowd) socket.destroy()
  let recoverMs = Infinity
  for (; recoverMs === Infinity && Date.now() - healed < 30_000; await pause(100)) {
    const answers = [await probeOnce(health), await probeOnce(victim.readyUrl)]
    if (answers.every(({ status }) => status === 200)) recoverMs = Date.now() - healed
  }
  agent.destroy()
  return { kept: keptProbes, keptOut, span, recoverMs }
}

const within = (calls: readonly CallRecord[], { at, until }: Span): CallRecord[] =>
  calls.filter(({ start, ms }) => start >= at && start + ms <= until)
/** Not while a crowd connects: a connection may be closed for the next one before its request is there. */
const inCrowds = ({ calls, spans }: Observed): CallRecord[] =>
  spans.crowds.flatMap((span) => within(calls, span))
const isIn = (spans: readonly Span[], time: number): boolean =>
  spans.some(({ at, until }) => time >= at && time < until)
// Calls of the ESB have a share of the files too, which is small here: they may be told to come again.
const isKeptOut = ({ kind, status }: CallRecord): boolean =>
  status !== 200 && !(kind === 'good' && status === 503)
const described = ({ kind, status, problem }: CallRecord): string => `${kind} ${status} ${problem}`
const unhealthy = (probes: readonly Probe[]): string[] =>
  probes
    .filter(({ status }) => status !== 200)
    .map(({ status, ms }) => `${status} after ${Math.round(ms)} ms`)
const excused = new Set([0, 200, 502, 503])

export const f36: Row = defineEsbRow<Observed>({
  id: 'F36',
  title: `connections take the ${limit} files of one of three replicas, and then none is left`,
  setup: () => ({
    replicas: 3,
    postgres: 'patroni',
    withSentinel: true,
    openFiles: [limit],
    // Threads take files too.
    env: { SVC_CREDENTIALS_KDF_THREADS: '1' },
  }),
  limitSeconds: 120,
  observe,
  judge: (figures, observed) => {
    const { crowds, exhausted } = observed.spans
    const duringCrowd = inCrowds(observed)
    figures.none('healthz', unhealthy(observed.crowded.filter(({ at }) => isIn(crowds, at))))
    figures.show('healthz_lost_in_burst', unhealthy(observed.crowded).length)
    figures.none('healthz_kept', unhealthy(observed.kept))
    figures.show('healthz_ms', Math.max(...observed.crowded.map(({ ms }) => ms)))
    figures.none('kept_out', duringCrowd.filter(isKeptOut).map(described))
    figures.show('refused_in_crowd', duringCrowd.filter(({ status }) => status === 503).length)
    figures.atLeast('calls_in_crowd', duringCrowd.length, 50)
    figures.show('open_files', observed.openFiles)
    figures.atMost('files_over', observed.openFiles - limit, 0)
    // Without this nothing was exhausted.
    const refused = within(observed.calls, exhausted).filter(({ status }) => status !== 200)
    figures.atLeast('refused_without_files', unhealthy(observed.keptOut).length + refused.length, 2)
    figures.none('wrong_status', observed.calls.filter(({ status }) => !excused.has(status)).map(described))
    figures.show('statuses_without_files', statusesOf(within(observed.calls, exhausted)))
    figures.atMost('recover_ms', observed.recoverMs, mostRecoverMs)
    const after = observed.calls.filter(({ start }) => start > exhausted.until + mostRecoverMs / 2)
    figures.none('failed_after', after.filter(({ status }) => status !== 200).map(described))
    figures.atLeast('passed_after', after.length, 10)
  },
  mutants: [
    mutant('health is not answered during the crowd', 'healthz', (observed) => ({
      crowded: observed.crowded.map((probe) => ({ ...probe, status: 0 })),
    })),
    mutant('health is not answered without files', 'healthz_kept', (observed) => ({
      kept: [...observed.kept, { at: 0, ms: 10, status: 500 }],
    })),
    mutant('the crowd keeps a caller out', 'kept_out', (observed) => {
      const key = inCrowds(observed)[0]?.key
      return {
        calls: observed.calls.map((call) => (call.key === key ? { ...call, status: 0 } : call)),
      }
    }),
    wrongStatus(),
    mutant('the replica does not come back', 'recover_ms', () => ({ recoverMs: 30_000 })),
    mutant('calls fail after it', 'failed_after', (observed) => ({
      calls: observed.calls.map((call) =>
        call.start > observed.spans.exhausted.until + mostRecoverMs / 2 ? { ...call, status: 502 } : call,
      ),
    })),
  ],
})
