// F37: callers send poisonous templates, bodies, documents and schedules in addition to ordinary traffic. These callers
// wait or are rejected, the event loop stays responsive, and other callers are served as fast as without the poison.
import { setPriority } from 'node:os'
import { pause } from '../children.ts'
import { mainWaitedMs } from '../cpu.ts'
import { type CallKind, type CallRecord, startCaller } from '../esb/caller.ts'
import { statusesOf, timeAt } from '../esb/checkers.ts'
import { type PoisonKind, createPoisons } from '../esb/poison-kinds.ts'
import type { EsbObserved } from '../esb/checkers.ts'
import { defineEsbRow } from '../esb/row.ts'
import { type EsbStage, callHeaders } from '../esb/stage.ts'
import type { Replica } from '../replicas.ts'
import { personHeaders } from '../installation.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

type Observed = EsbObserved & {
  withoutPoison: CallRecord[]
  withPoison: CallRecord[]
  poison: CallRecord[]
  allowed: Record<string, readonly number[]>
  /** The 99th percentile of the event loop delay in each phase, in milliseconds. */
  loop: { withoutPoison: number[]; withPoison: number[] }
  /** Milliseconds per second in which the replica's main thread waited for a core. */
  waited: { withoutPoison: number[]; withPoison: number[] }
}

const perSecond = 100
const rounds = 3
const phaseMs = 7_000
const [poisonsPerSecond, maxOpenPoisons] = [12, 3]
const maxLoopMs = 50
const [goodRatio, slackMs] = [1.3, 15]

/** Returns a plain call, a call with a small template, and a read. */
async function ordinaryKinds(stage: EsbStage): Promise<CallKind[]> {
  const { path } = await stage.endpoint({
    url: stage.upstreams.url,
    authType: 'Bearer',
    authToken: stage.upstreams.secret,
    transformationTemplate: '{"a":{{toJson .Data.a}}}',
  })
  return [
    stage.goodCall(),
    {
      name: 'template',
      url: stage.balancer.url + path,
      headers: callHeaders(stage.site),
      body: '{"a":"{key}"}',
    },
    {
      name: 'read',
      url: `${stage.balancer.url}/query`,
      headers: personHeaders(stage.site.adminId),
      body: '{"query":"{ projects { id name } }"}',
    },
  ]
}

const lowPriority = 15

/** Returns the event loop delay since the last call. */
const loopMs = async (replica: Replica): Promise<number> =>
  1_000 * (await replica.metric('svc_nodejs_eventloop_lag_p99_seconds'))

async function observe(stage: EsbStage): Promise<Observed> {
  const poisons: PoisonKind[] = await createPoisons(stage)
  const kinds = await ordinaryKinds(stage)
  // Large bodies keep the sending process busy, so the ordinary calls are sent by a different process.
  const poisoner = stage.registerPart(await startCaller(stage.folder))
  // The low priority prevents the generation of poison from slowing down the service.
  setPriority(poisoner.pid, lowPriority)
  const [replica] = stage.replicas as [Replica]
  const loop: Observed['loop'] = { withoutPoison: [], withPoison: [] }
  const waited: Observed['waited'] = { withoutPoison: [], withPoison: [] }
  const callOthers = async (phase: 'withoutPoison' | 'withPoison'): Promise<CallRecord[]> => {
    await loopMs(replica)
    const [before, startedAt] = [mainWaitedMs(replica.pid), Date.now()]
    const calls = await stage.caller.start({ kinds, perSecond })
    await pause(phaseMs)
    const records = await calls.stop()
    loop[phase].push(await loopMs(replica))
    waited[phase].push((1_000 * (mainWaitedMs(replica.pid) - before)) / (Date.now() - startedAt))
    return records
  }
  // The first phase is a warm-up.
  const first = await callOthers('withoutPoison')
  loop.withoutPoison.length = 0
  waited.withoutPoison.length = 0
  const [withoutPoison, withPoison, poison]: [CallRecord[], CallRecord[], CallRecord[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    withoutPoison.push(...(await callOthers('withoutPoison')))
    stage.log('sending poisonous requests')
    // Each round continues where the previous one ended.
    const from = poison.length % poisons.length
    const calls = await poisoner.start({
      kinds: [...poisons.slice(from), ...poisons.slice(0, from)].map(({ call }) => call),
      perSecond: poisonsPerSecond,
      maxOpen: maxOpenPoisons,
      callMs: 30_000,
      // The service closes a connection after it rejects a body.
      usesNewConnections: true,
    })
    withPoison.push(...(await callOthers('withPoison')))
    poison.push(...(await calls.stop()))
  }
  return {
    ...(await stage.history([...first, ...withoutPoison, ...withPoison])),
    withoutPoison,
    withPoison,
    poison,
    allowed: Object.fromEntries(poisons.map(({ call, statuses }) => [call.name, statuses])),
    loop,
    waited,
  }
}

const described = ({ kind, status, ms, problem }: CallRecord): string =>
  `${kind}: ${status} after ${Math.round(ms)} ms ${problem.slice(0, 120)}`

/** Returns poisonous requests with an unexpected response. */
const checkPoison = ({ poison, allowed }: Observed): string[] =>
  poison
    .filter(({ kind, status, problem }) => {
      const isForeseen = status === 503 || allowed[kind]?.includes(status) === true
      return !isForeseen || problem.includes('"code":"internal"')
    })
    .map(described)

/**
 * Returns the five kinds of poisonous requests that were most often in flight during the slowest 1 % of ordinary
 * calls, with their counts.
 */
function slowestWithPoison({ withPoison, poison }: Observed): string {
  const slowest = withPoison
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, Math.ceil(withPoison.length / 100))
  const counts = new Map<string, number>()
  for (const { start, ms } of slowest)
    for (const open of poison)
      if (open.start < start + ms && open.start + open.ms > start)
        counts.set(open.kind, (counts.get(open.kind) ?? 0) + 1)
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 5)
    .map(([kind, count]) => `${kind}:${count}`)
    .join(',')
}

export const f37: Row = defineEsbRow<Observed>({
  id: 'F37',
  title: 'poisonous templates, bodies, documents and schedules in addition to ordinary traffic',
  setup: () => ({ replicas: 1 }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    const { withoutPoison, withPoison, poison, loop } = observed
    const loopWithoutPoison = Math.max(...loop.withoutPoison)
    // Even if the event loop is delayed without poison, the poison must not increase the delay.
    figures.atMost(
      'evloop_p99',
      Math.max(...loop.withPoison),
      Math.max(maxLoopMs, goodRatio * loopWithoutPoison),
    )
    figures.show('evloop_p99_without_poison', loopWithoutPoison)
    // Prints how long the main thread waited for a core. This wait delays the event loop, and the service cannot avoid
    // it.
    figures.show('core_wait', observed.waited.withPoison.map(Math.round).join('/'))
    figures.show('core_wait_without_poison', observed.waited.withoutPoison.map(Math.round).join('/'))
    const [with99, without99] = [timeAt(withPoison, 0.99), timeAt(withoutPoison, 0.99)]
    figures.atMost('p99_ms', with99, Math.max(goodRatio * without99, without99 + slackMs))
    figures.show('p99_ratio', with99 / without99)
    figures.show('slowest_with_poison', slowestWithPoison(observed))
    figures.none('others_failed', observed.calls.filter(({ status }) => status !== 200).map(described))
    figures.none('poison_wrong', checkPoison(observed))
    figures.atLeast('poisons', poison.length, Object.keys(observed.allowed).length)
    figures.atLeast(
      'kinds',
      new Set(poison.map(({ kind }) => kind)).size,
      Object.keys(observed.allowed).length,
    )
    figures.show('poison_statuses', statusesOf(poison))
    figures.show('poison_p99_ms', timeAt(poison, 0.99))
  },
  mutants: [
    mutant('poison blocks the event loop', 'evloop_p99', (observed) => ({
      loop: { ...observed.loop, withPoison: [2_000] },
    })),
    mutant('other calls wait for poison', 'p99_ms', (observed) => ({
      withPoison: observed.withPoison.map((call, index) =>
        index % 50 === 0 ? { ...call, ms: 60_000 } : call,
      ),
    })),
    mutant('an ordinary caller is rejected', 'others_failed', (observed) => ({
      calls: observed.calls.map((call, index) => (index === 0 ? { ...call, status: 500 } : call)),
    })),
    mutant('poison causes an internal error', 'poison_wrong', (observed) => ({
      poison: observed.poison.map((call, index) =>
        index === 0 ? { ...call, status: 500, problem: '{"code":"internal"}' } : call,
      ),
    })),
  ],
})
