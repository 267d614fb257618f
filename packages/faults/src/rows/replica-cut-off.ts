// F08: one of three replicas silently loses its link to PostgreSQL. It stops firing triggers and reports that
// it is not ready. Its own callers receive 503, and the other replicas do all the work.
import { findRedelivered } from '../checkers.ts'
import { pause } from '../children.ts'
import { createClient } from '../mixed/client.ts'
import { personHeaders } from '../installation.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import { auditedWrites, longestGapMs, longestMs, shedPercent } from '../mixed/spans.ts'
import type { MixedStage } from '../mixed/stage.ts'
import { type IdleTransactions, watchIdleTransactions } from '../own-sessions.ts'
import { type Operation, createRecorder } from '../recorder.ts'
import type { Replica } from '../replicas.ts'
import type { Row } from '../row.ts'
import { type Schedule, stepOf, targetOf } from '../schedule.ts'
import { type Vitals, findUnready, readyAfterMs, unreadyAfterMs, watchVitals } from '../vitals.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & {
  vitals: Vitals
  cut: string
  others: string[]
  /** The time when the load balancer stopped sending requests to the replica. */
  removedAt: number
  /** Direct calls to this replica, and the direct calls whose response lacks Retry-After. */
  direct: Operation[]
  directWithoutRetryAfter: string[]
  /** The number of attempts that the replica still counted as running after all of its attempts must have ended. */
  attemptsAfterCut: number
  idle: IdleTransactions
}

const firstMs = 6_000
const cutMs = 30_000
const lastMs = 10_000
const flipMs = 3_000
const removalMs = 4_000
// The same bound as in F07.
const latencyMs = 6_500
const takeoverMs = 20_000
// The server terminates a session that has been idle in a transaction for 5 s. The rest is the sampling interval.
const idleSeconds = 6.5
const stallMs = 7_500
const directIntervalMs = 500

async function observe(stage: MixedStage, schedule: Schedule): Promise<Observed> {
  const { replicas, links } = stage
  const step = stepOf(schedule, 'silence')
  const [cut, link] = [targetOf(replicas, step), targetOf(links, step).postgres]
  const load = await stage.startLoad((firstMs + cutMs + lastMs) / 1_000)
  const endWatch = watchVitals(replicas)
  const endIdle = watchIdleTransactions(stage.cluster.sql)
  await load.at(firstMs)
  stage.log(`cutting ${cut.name} off from PostgreSQL for ${cutMs / 1_000} s`)
  await link.set({ mode: 'silent' })
  const at = Date.now()
  const removal = waitUntilRemoved(stage, at + cutMs)
  const endDirect = callDirectly(stage, cut)
  await load.at(firstMs + latencyMs + 5_000)
  const attemptsBefore = await cut.metric('svc_trigger_attempts_total')
  await load.at(firstMs + cutMs)
  const attemptsAfterCut = (await cut.metric('svc_trigger_attempts_total')) - attemptsBefore
  const until = Date.now()
  await link.heal()
  const direct = await endDirect()
  await load.end()
  const [vitals, idle, removedAt] = [await endWatch(), await endIdle(), await removal]
  return {
    ...(await load.settle()),
    ...direct,
    vitals,
    cut: cut.name,
    others: replicas.filter((one) => one !== cut).map(({ name }) => name),
    removedAt,
    attemptsAfterCut,
    idle,
    faults: [{ name: `${cut.name} without PostgreSQL`, at, until }],
  }
}

async function waitUntilRemoved({ balancer, replicas }: MixedStage, until: number): Promise<number> {
  while (Date.now() < until) {
    if ((await balancer.ready()) < replicas.length) return Date.now()
    await pause(50)
  }
  return Infinity
}

/** Calls this replica repeatedly, bypassing the load balancer. */
function callDirectly({ world }: MixedStage, { url }: Replica) {
  const [client, recorder] = [createClient(url), createRecorder()]
  const open: Promise<unknown>[] = []
  const ask = (): Promise<number> =>
    recorder.record('direct', 'projects', async () => {
      const headers = personHeaders(world.site.adminId)
      return (await client.send('/query', { headers, body: { query: '{ projects { id } }' } })).status
    })
  const timer = setInterval(() => void open.push(ask()), directIntervalMs)
  return async (): Promise<Pick<Observed, 'direct' | 'directWithoutRetryAfter'>> => {
    clearInterval(timer)
    await Promise.all(open)
    await client.end()
    return { direct: recorder.operations, directWithoutRetryAfter: client.withoutRetryAfter }
  }
}

const spanOf = ({ faults }: MixedObserved): { at: number; until: number } => faults[0] ?? { at: 0, until: 0 }

/** Returns direct calls that completed while the link was down. */
const duringCut = (observed: Observed): Operation[] =>
  observed.direct.filter(({ end }) => end < spanOf(observed).until)

/** Returns the longest delay of a run that was due or running while the replica was cut off. */
function longestTakeoverMs(observed: MixedObserved): number {
  const { at, until } = spanOf(observed)
  const first = Map.groupBy(
    observed.deliveries.filter(({ status }) => status === 200),
    ({ runId }) => runId,
  )
  return [...first.values()]
    .map((found) => ({
      dueAt: Math.max(at, found[0]?.scheduledAt ?? 0),
      arrivedAt: found.reduce((earliest, one) => Math.min(earliest, one.at), Infinity),
    }))
    .filter(({ dueAt, arrivedAt }) => arrivedAt >= at && dueAt < until)
    .reduce((longest, { dueAt, arrivedAt }) => Math.max(longest, arrivedAt - dueAt), 0)
}

export const f08: Row = defineMixedRow<Observed>({
  id: 'F08',
  title: 'one of three replicas is cut off from PostgreSQL for 30 s, without a reset',
  schedule: (random) => [{ atMs: firstMs, what: 'silence', target: Math.floor(random() * 3) }],
  setup: () => ({ replicas: 3, withFaultProxies: true }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    const { operations, vitals, cut, others, direct, deliveries } = observed
    const span = spanOf(observed)
    figures.atMost('split_brain_fires', observed.attemptsAfterCut, 0)
    figures.atMost('takeover_ms', longestTakeoverMs(observed), takeoverMs)
    figures.show('dup_deliv', findRedelivered(deliveries).length)
    figures.atMost('ready_flip_ms', unreadyAfterMs(vitals, [cut], span), flipMs)
    figures.none('others_unready', findUnready(vitals, others, span))
    figures.atMost('balancer_out_ms', observed.removedAt - span.at, removalMs)
    figures.show('ready_again_ms', readyAfterMs(vitals, [cut], span))
    const during = duringCut(observed)
    figures.atLeast('direct', during.length, 10)
    const wrong = during.filter(({ status }) => status !== 503)
    figures.none(
      'direct_not_503',
      wrong.map(({ status }) => String(status)),
    )
    figures.none('direct_no_retry_after', observed.directWithoutRetryAfter)
    figures.atMost('direct_max_s', longestMs(direct, span) / 1_000, latencyMs / 1_000)
    // The replica may hold locks that all writers need, until the server terminates its transaction.
    figures.atMost('writes_stall_ms', longestGapMs(operations, span, auditedWrites), stallMs)
    figures.show('max_latency_s', longestMs(operations, span) / 1_000)
    figures.show('shed_pct', shedPercent(operations, span))
    figures.show('idle_tx_seen', observed.idle.seen)
    figures.atMost('idle_tx_s', observed.idle.longest, idleSeconds)
  },
  mutants: [
    mutant('the replica continues to fire', 'split_brain_fires', () => ({ attemptsAfterCut: 1 })),
    mutant('a run waits until the replica reconnects', 'takeover_ms', (observed) => {
      const { at } = spanOf(observed)
      const { runId } = observed.deliveries.find((one) => one.at > at) ?? { runId: '' }
      return {
        deliveries: observed.deliveries.map((one) =>
          one.runId === runId ? { ...one, at: at + 60_000 } : one,
        ),
      }
    }),
    mutant('the replica always reports that it is ready', 'ready_flip_ms', (observed) =>
      plantReady(observed, observed.cut, 200),
    ),
    mutant('an unaffected replica reports that it is not ready', 'others_unready', (observed) =>
      plantReady(observed, observed.others[0] ?? '', 503),
    ),
    mutant('the load balancer keeps using the replica', 'balancer_out_ms', () => ({ removedAt: Infinity })),
    mutant('the replica responds from its cache', 'direct_not_503', (observed) => ({
      direct: observed.direct.map((one) => ({ ...one, status: 200 })),
    })),
    mutant('a direct caller waits forever', 'direct_max_s', (observed) => ({
      direct: observed.direct.map((one) => ({ ...one, end: one.start + 15_000 })),
    })),
    mutant('all writes wait until the replica reconnects', 'writes_stall_ms', (observed) => ({
      operations: observed.operations.filter(
        ({ end }) => end < spanOf(observed).at || end > spanOf(observed).until - 1_000,
      ),
    })),
    mutant('a transaction stays open', 'idle_tx_s', () => ({ idle: { longest: 30, seen: 60 } })),
  ],
})

const plantReady = (observed: Observed, replica: string, status: number): Observed => ({
  ...observed,
  vitals: {
    ...observed.vitals,
    ready: observed.vitals.ready.map((one) => (one.replica === replica ? { ...one, status } : one)),
  },
})
