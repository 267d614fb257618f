// F37: poison in templates, bodies, documents and schedules beside ordinary traffic. Whoever sends it waits or is refused;
// the event loop of the replica goes round, and others are served as fast as without it.
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
  alone: CallRecord[]
  beside: CallRecord[]
  poison: CallRecord[]
  allowed: Record<string, readonly number[]>
  /** The 99th percentile of the event loop's delay, in milliseconds, of each phase. */
  loop: { alone: number[]; beside: number[] }
  /** Milliseconds of each second in which the main thread of the replica waited for a core. */
  waited: { alone: number[]; beside: number[] }
}

const perSecond = 100
const rounds = 3
const phaseMs = 7_000
const [poisonsPerSecond, poisonsAtOnce] = [12, 3]
const mostLoopMs = 50
const [goodRatio, slackMs] = [1.3, 15]

/** A read, and a call with a small template. */
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

/** Since it was read last. */
const loopMs = async (replica: Replica): Promise<number> =>
  1_000 * (await replica.metric('svc_nodejs_eventloop_lag_p99_seconds'))

async function observe(stage: EsbStage): Promise<Observed> {
  const poisons: PoisonKind[] = await createPoisons(stage)
  const kinds = await ordinaryKinds(stage)
  // Large bodies keep the process busy that sends them; ordinary calls come from another one.
  const poisoner = stage.ends(await startCaller(stage.folder))
  // What it takes to make the poison is not the service's.
  setPriority(poisoner.pid, lowPriority)
  const [replica] = stage.replicas as [Replica]
  const loop: Observed['loop'] = { alone: [], beside: [] }
  const waited: Observed['waited'] = { alone: [], beside: [] }
  const callOthers = async (phase: 'alone' | 'beside'): Promise<CallRecord[]> => {
    await loopMs(replica)
    const [before, begun] = [mainWaitedMs(replica.pid), Date.now()]
    const calls = await stage.caller.start({ kinds, perSecond })
    await pause(phaseMs)
    const records = await calls.stop()
    loop[phase].push(await loopMs(replica))
    waited[phase].push((1_000 * (mainWaitedMs(replica.pid) - before)) / (Date.now() - begun))
    return records
  }
  // What runs for the first time takes longer.
  const first = await callOthers('alone')
  loop.alone.length = 0
  const [alone, beside, poison]: [CallRecord[], CallRecord[], CallRecord[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    alone.push(...(await callOthers('alone')))
    stage.say('with poison')
    // Each round begins where the one before has ended.
    const from = poison.length % poisons.length
    const calls = await poisoner.start({
      kinds: [...poisons.slice(from), ...poisons.slice(0, from)].map(({ call }) => call),
      perSecond: poisonsPerSecond,
      mostOpen: poisonsAtOnce,
      callMs: 30_000,
      // A connection whose body was refused is closed.
      isFresh: true,
    })
    beside.push(...(await callOthers('beside')))
    poison.push(...(await calls.stop()))
  }
  return {
    ...(await stage.history([...first, ...alone, ...beside])),
    alone,
    beside,
    poison,
    allowed: Object.fromEntries(poisons.map(({ call, statuses }) => [call.name, statuses])),
    loop,
    waited,
  }
}

const described = ({ kind, status, ms, problem }: CallRecord): string =>
  `${kind}: ${status} after ${Math.round(ms)} ms ${problem.slice(0, 120)}`

/** Poison that was answered with something that is not foreseen. */
const checkPoison = ({ poison, allowed }: Observed): string[] =>
  poison
    .filter(({ kind, status, problem }) => {
      const isForeseen = status === 503 || allowed[kind]?.includes(status) === true
      return !isForeseen || problem.includes('"code":"internal"')
    })
    .map(described)

/** The poison that was open most often during the slowest hundredth of the ordinary calls, with the number of such calls. */
function slowestBeside({ beside, poison }: Observed): string {
  const slowest = beside.toSorted((one, other) => other.ms - one.ms).slice(0, Math.ceil(beside.length / 100))
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
  title: 'poison in templates, bodies, documents and schedules beside ordinary traffic',
  setup: () => ({ replicas: 1 }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    const { alone, beside, poison, loop } = observed
    const loopAlone = Math.max(...loop.alone)
    // Where the machine alone makes it late, poison must not make it later.
    figures.atMost('evloop_p99', Math.max(...loop.beside), Math.max(mostLoopMs, goodRatio * loopAlone))
    figures.show('evloop_p99_alone', loopAlone)
    // A loop that waits for a core is late by that, whatever it does.
    figures.show('core_wait', observed.waited.beside.map(Math.round).join('/'))
    figures.show('core_wait_alone', observed.waited.alone.map(Math.round).join('/'))
    const [with99, without99] = [timeAt(beside, 0.99), timeAt(alone, 0.99)]
    figures.atMost('p99_ms', with99, Math.max(goodRatio * without99, without99 + slackMs))
    figures.show('p99_ratio', with99 / without99)
    figures.show('slowest_beside', slowestBeside(observed))
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
    mutant('poison holds the event loop', 'evloop_p99', (observed) => ({
      loop: { ...observed.loop, beside: [2_000] },
    })),
    mutant('others wait for poison', 'p99_ms', (observed) => ({
      beside: observed.beside.map((call, index) => (index % 50 === 0 ? { ...call, ms: 60_000 } : call)),
    })),
    mutant('another caller is refused', 'others_failed', (observed) => ({
      calls: observed.calls.map((call, index) => (index === 0 ? { ...call, status: 500 } : call)),
    })),
    mutant('poison brings an internal error', 'poison_wrong', (observed) => ({
      poison: observed.poison.map((call, index) =>
        index === 0 ? { ...call, status: 500, problem: '{"code":"internal"}' } : call,
      ),
    })),
  ],
})
