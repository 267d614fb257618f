// F16: a replica receives five times its capacity. Its throughput stays near the peak with good latency, and
// it rejects excess calls with Retry-After. Health checks respond, memory is bounded, and the replica
// recovers afterwards.
import { pause } from '../children.ts'
import { rssOf } from '../cpu.ts'
import type { CallKind, CallRecord } from '../esb/caller.ts'
import { statusesOf, timeAt } from '../esb/checkers.ts'
import {
  checkWritten,
  isAccepted,
  isUnauthorizedSuccess,
  mixedKinds,
  readWritten,
} from '../esb/mixed-kinds.ts'
import { type Probe, startProbes } from '../esb/probe.ts'
import type { EsbObserved } from '../esb/checkers.ts'
import { defineEsbRow } from '../esb/row.ts'
import type { EsbStage } from '../esb/stage.ts'
import type { Replica } from '../replicas.ts'
import { quantile } from '../verdict.ts'
import type { Row } from '../row.ts'
import { mutant, wrongStatus } from '../plant.ts'

type Observed = EsbObserved & {
  /** Maximum number of accepted calls per second during the ramp. */
  peak: number
  overload: { calls: CallRecord[]; at: number; until: number }
  normal: CallRecord[]
  health: Probe[]
  rss: { before: number; peak: number }
  written: string[]
}

// Two cores run one replica, its callers, PostgreSQL and Redis, so rates are relative to the replica's peak.
// The replica is called directly, over connections that stay open like those of a proxy. Node accepts one new
// connection per event loop iteration, so many new connections would wait for many iterations.
const replicas = 1
const [rampFrom, rampFactor, rampSteps, rampMs] = [80, 1.5, 8, 3_000]
const overloadFactor = 5
const overloadMs = 25_000
// The initial period, which is not part of the steady state.
const settleMs = 3_000
const normalShare = 0.3
const normalMs = 10_000
const maxOpen = 1_000
const openConnectionsMs = 20
const [minGoodputRatio, acceptedMs, healthMs, rssMb, recoverS] = [0.8, 1_000, 100, 200, 5]
const callMs = 10_000

/** Raises the rate until the replica cannot keep up, and returns its maximum throughput. */
async function findPeak(stage: EsbStage, kinds: readonly CallKind[], all: CallRecord[]): Promise<number> {
  let peak = 0
  for (let step = 0, rate = rampFrom; step < rampSteps; step++, rate *= rampFactor) {
    const running = await stage.caller.start({
      kinds,
      perSecond: rate,
      maxOpen,
      callMs,
      keepsConnections: true,
    })
    await pause(rampMs)
    const calls = await running.stop()
    all.push(...calls)
    const last = Math.max(...calls.map(({ start, ms }) => start + ms))
    const first = Math.min(...calls.map(({ start }) => start))
    const perSecond = (1_000 * calls.filter(isAccepted).length) / Math.max(rampMs, last - first)
    stage.log(`${Math.round(rate)} per second: ${Math.round(perSecond)} accepted`)
    peak = Math.max(peak, perSecond)
    if (perSecond < 0.85 * rate) break
  }
  return peak
}

/** Opens the connections for the overload, because the ramp opens only a few. */
async function openConnections(stage: EsbStage, url: string): Promise<void> {
  const kinds = [{ name: 'open', url: `${url}/`, headers: {} }]
  const opening = await stage.caller.start({
    kinds,
    perSecond: 100_000,
    maxOpen,
    callMs,
    keepsConnections: true,
  })
  await pause(openConnectionsMs)
  await opening.stop()
}

async function observe(stage: EsbStage): Promise<Observed> {
  const [replica] = stage.replicas as [Replica]
  const all: CallRecord[] = []
  const kinds = await mixedKinds(stage, replica.url)
  const peak = await findPeak(stage, kinds, all)
  await openConnections(stage, replica.url)
  await pause(2_000)
  const rss = { before: rssOf(replica.pid), peak: 0 }
  const watch = setInterval(() => (rss.peak = Math.max(rss.peak, rssOf(replica.pid))), 500)
  const probes = startProbes(replica.readyUrl.replace('/readyz', '/healthz'), 200)
  stage.log(`sending ${Math.round(overloadFactor * peak)} calls per second`)
  const at = Date.now()
  const running = await stage.caller.start({
    kinds,
    perSecond: overloadFactor * peak,
    maxOpen,
    callMs,
    keepsConnections: true,
  })
  await pause(overloadMs)
  const until = Date.now()
  const ending = running.stop()
  const normal = await stage.caller.start({
    kinds,
    perSecond: normalShare * peak,
    maxOpen,
    callMs,
    keepsConnections: true,
  })
  const overloaded = await ending
  const health = await probes.stop()
  clearInterval(watch)
  await pause(Math.max(0, until + normalMs - Date.now()))
  const after = await normal.stop()
  return {
    ...(await stage.history([...all, ...overloaded, ...after])),
    peak,
    overload: { calls: overloaded, at, until },
    normal: after,
    health: health.filter((probe) => probe.at < until),
    rss,
    written: await readWritten(stage.cluster.sql),
  }
}

/** Returns the accepted calls per second in the steady part of the overload. */
function goodputOf({ overload: { calls, at, until } }: Observed): number {
  const from = at + settleMs
  const good = calls.filter(
    (call) => isAccepted(call) && call.start + call.ms >= from && call.start + call.ms < until,
  )
  return (1_000 * good.length) / (until - from)
}

/** Returns the seconds from the end of the overload to the last call that failed or was too slow. */
function recoveredS({ overload: { until }, normal }: Observed): number {
  const bad = normal.filter((call) => !isAccepted(call) || call.ms > acceptedMs)
  const last = Math.max(until, ...bad.map(({ start }) => start))
  return normal.some(({ start }) => start > last) ? (last - until) / 1_000 : Infinity
}

const described = ({ kind, status, problem }: CallRecord): string => `${kind} ${status} ${problem}`

export const f16: Row = defineEsbRow<Observed>({
  id: 'F16',
  title: `${overloadFactor} times the capacity of a replica for ${overloadMs / 1_000} s`,
  setup: () => ({
    replicas,
    env: { SVC_COMMS_EMIT_RATE: '10000', SVC_COMMS_EMIT_BURST: '10000' },
  }),
  limitSeconds: 180,
  observe,
  judge: (figures, observed) => {
    const { overload, peak, health, rss } = observed
    const accepted = overload.calls.filter(isAccepted)
    figures.none('lost', checkWritten(observed.calls, observed.written))
    figures.none('unauthorized', observed.calls.filter(isUnauthorizedSuccess).map(described))
    figures.none(
      'wrong_status',
      observed.calls.filter(({ status }) => status >= 500 && status !== 503).map(described),
    )
    figures.show('peak', peak)
    figures.show('offered', (1_000 * overload.calls.length) / (overload.until - overload.at))
    figures.atLeast('offered_ratio', overload.calls.length / (peak * (overloadMs / 1_000)), 2)
    figures.atLeast('goodput_ratio', goodputOf(observed) / peak, minGoodputRatio)
    figures.atMost('p99', timeAt(accepted, 0.99), acceptedMs)
    // The latency per kind shows which resource is the bottleneck.
    const kinds = [...new Set(accepted.map(({ kind }) => kind))]
    const p99Of = (kind: string): number =>
      Math.round(
        timeAt(
          accepted.filter((call) => call.kind === kind),
          0.99,
        ),
      )
    figures.show('p99_of', kinds.map((kind) => `${kind}:${p99Of(kind)}`).join(','))
    figures.none(
      'unhealthy',
      health.filter(({ status }) => status !== 200).map(({ status }) => String(status)),
    )
    const answered = health.map(({ ms }) => ms).sort((a, b) => a - b)
    figures.atMost('healthz_ms', quantile(answered, 0.99), healthMs)
    figures.show('healthz_max_ms', answered.at(-1) ?? 0)
    figures.atMost('rss_mb', rss.peak - rss.before, rssMb)
    figures.atMost('recover_s', recoveredS(observed), recoverS)
    figures.show('statuses', statusesOf(overload.calls))
    figures.show(
      'refused_ms',
      timeAt(
        overload.calls.filter(({ status }) => status === 503),
        0.99,
      ),
    )
  },
  mutants: [
    mutant('an acknowledged write is lost', 'lost', (observed) => ({
      written: observed.written.slice(0, 1),
    })),
    mutant('an unauthorized call succeeds under load', 'unauthorized', (observed) => ({
      calls: observed.calls.map((call) =>
        call.kind === 'stranger' ? { ...call, status: 200, problem: '' } : call,
      ),
    })),
    wrongStatus(),
    mutant('throughput collapses', 'goodput_ratio', (observed) => ({ peak: 10 * observed.peak })),
    mutant('accepted calls wait', 'p99', (observed) => ({
      overload: {
        ...observed.overload,
        calls: observed.overload.calls.map((call) => ({ ...call, ms: 5_000 })),
      },
    })),
    mutant('health checks wait for other calls', 'healthz_ms', (observed) => ({
      health: observed.health.map((probe) => ({ ...probe, ms: 3_000 })),
    })),
    mutant('a health check fails', 'unhealthy', (observed) => ({
      health: [...observed.health, { at: 0, ms: 5_000, status: 0 }],
    })),
    mutant('waiting calls fill the memory', 'rss_mb', () => ({ rss: { before: 100, peak: 900 } })),
    mutant('the replica does not recover', 'recover_s', (observed) => ({
      normal: observed.normal.map((call) => ({ ...call, status: 503 })),
    })),
  ],
})
