// F15: every statement takes 200 ms longer on its way. The same work needs more connections at once; what does not fit is
// refused rather than kept waiting, the replicas stay ready, and afterwards all is as before.
import { callMs } from '../mixed/client.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import { type Span, acceptedP99Ms, longestMs, okPerSecond, shedPercent, waitsLong } from '../mixed/spans.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Operation } from '../recorder.ts'
import type { Row } from '../row.ts'
import { type Vitals, findUnready, watchVitals } from '../vitals.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & { vitals: Vitals; replicas: string[]; before: Span; after: Span }

const warmMs = 3_000
const firstMs = 13_000
const slowMs = 30_000
const settleMs = 3_000
const lastMs = 13_000
// Each way: a round trip takes 200 ms more, give or take 50.
const link = { latencyMs: 100, jitterMs: 25 }
const leastRatio = 0.8
/** The kinds of operations that the audit trail of their project records. */
const changes = new Set(['create', 'rename', 'end', 'upload', 'login', 'approve'])
const isChange = ({ op }: Operation): boolean => changes.has(op)

async function observe(stage: MixedStage): Promise<Observed> {
  const load = await stage.startLoad((firstMs + slowMs + lastMs) / 1_000)
  const endWatch = watchVitals(stage.replicas)
  await load.at(firstMs)
  stage.say('PostgreSQL is 200 ms away')
  const at = Date.now()
  await Promise.all(stage.links.map(({ postgres }) => postgres.set(link)))
  await load.at(firstMs + slowMs)
  await Promise.all(stage.links.map(({ postgres }) => postgres.heal()))
  const until = Date.now()
  await load.end()
  const end = Date.now()
  const vitals = await endWatch()
  return {
    ...(await load.settle()),
    vitals,
    replicas: stage.replicas.map(({ name }) => name),
    before: { at: load.startedAt + warmMs, until: at },
    after: { at: until + settleMs, until: end },
    faults: [{ name: '200 ms to PostgreSQL', at, until }],
  }
}

const spanOf = ({ faults }: MixedObserved): Span => faults[0] ?? { at: 0, until: 0 }

export const f15: Row = defineMixedRow<Observed>({
  id: 'F15',
  title: 'PostgreSQL is 200 ms ± 50 ms away from every replica for 30 s',
  setup: () => ({ replicas: 3, withFaultProxies: true }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    const { operations, before, after, vitals, replicas } = observed
    const span = spanOf(observed)
    const clean = okPerSecond(operations, before)
    figures.show('goodput_s', clean)
    figures.atLeast('goodput_ratio', okPerSecond(operations, span) / clean, leastRatio)
    figures.show('shed_pct', shedPercent(operations, span))
    figures.show('p99_accepted_ms', acceptedP99Ms(operations, span))
    // Changes of one project are put into its audit trail one after the other, each for some round trips: they queue.
    const [queued, others] = [operations.filter(isChange), operations.filter((one) => !isChange(one))]
    figures.show('change_p99_ms', acceptedP99Ms(queued, span))
    figures.show('change_max_s', longestMs(queued, span) / 1_000)
    figures.atMost('max_latency_s', longestMs(others, span) / 1_000, callMs / 1_000)
    figures.none('unready', findUnready(vitals, replicas, span))
    figures.atLeast('after_ratio', okPerSecond(operations, after) / clean, leastRatio)
    // A link without latency would show nothing.
    figures.atLeast('slower_by_ms', acceptedP99Ms(operations, span) - acceptedP99Ms(operations, before), 150)
  },
  mutants: [
    waitsLong('max_latency_s', callMs + 1),
    mutant('the pools collapse', 'goodput_ratio', (observed) => withoutOk(observed, spanOf(observed))),
    mutant('the pools do not recover', 'after_ratio', (observed) => withoutOk(observed, observed.after)),
    mutant('a replica takes a slow database for a dead one', 'unready', (observed) => ({
      vitals: {
        ...observed.vitals,
        ready: observed.vitals.ready.map((one) => ({ ...one, status: 503 })),
      },
    })),
    mutant('the link is as fast as before', 'slower_by_ms', (observed) => ({
      operations: observed.operations.map((one) => ({ ...one, end: one.start + 5 })),
    })),
  ],
})

const withoutOk = (observed: Observed, { at, until }: Span): Observed => ({
  ...observed,
  operations: observed.operations.filter(({ end }) => end < at || end >= until),
})
