// F15: the network adds 200 ms to every statement. The same work needs more concurrent connections. Excess
// requests are rejected instead of queued, the replicas stay ready, and the throughput recovers afterwards.
import { callMs } from '../mixed/client.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import { type Span, acceptedP99Ms, longestMs, okPerSecond, shedPercent, slowCall } from '../mixed/spans.ts'
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
// The latency per direction, which prolongs each round trip by 200 ms ± 50 ms.
const link = { latencyMs: 100, jitterMs: 25 }
const minRatio = 0.8
/** Operations that the audit trail of their project records. */
const changes = new Set(['create', 'rename', 'invalidate', 'upload', 'login', 'approve'])
const isChange = ({ op }: Operation): boolean => changes.has(op)

async function observe(stage: MixedStage): Promise<Observed> {
  const load = await stage.startLoad((firstMs + slowMs + lastMs) / 1_000)
  const endWatch = watchVitals(stage.replicas)
  await load.at(firstMs)
  stage.log('adding 200 ms of latency to PostgreSQL')
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
    faults: [{ name: '200 ms of latency to PostgreSQL', at, until }],
  }
}

const spanOf = ({ faults }: MixedObserved): Span => faults[0] ?? { at: 0, until: 0 }

export const f15: Row = defineMixedRow<Observed>({
  id: 'F15',
  title: '200 ms ± 50 ms of latency between every replica and PostgreSQL for 30 s',
  setup: () => ({ replicas: 3, withFaultProxies: true }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    const { operations, before, after, vitals, replicas } = observed
    const span = spanOf(observed)
    const clean = okPerSecond(operations, before)
    figures.show('goodput_s', clean)
    figures.atLeast('goodput_ratio', okPerSecond(operations, span) / clean, minRatio)
    figures.show('shed_pct', shedPercent(operations, span))
    figures.show('p99_accepted_ms', acceptedP99Ms(operations, span))
    // The audit trail serializes the changes in a project. Each change needs several round trips, so changes queue.
    const [queued, others] = [operations.filter(isChange), operations.filter((one) => !isChange(one))]
    figures.show('change_p99_ms', acceptedP99Ms(queued, span))
    figures.show('change_max_s', longestMs(queued, span) / 1_000)
    figures.atMost('max_latency_s', longestMs(others, span) / 1_000, callMs / 1_000)
    figures.none('unready', findUnready(vitals, replicas, span))
    figures.atLeast('after_ratio', okPerSecond(operations, after) / clean, minRatio)
    // Calls must be slower during the fault. Otherwise, the link had no latency.
    figures.atLeast('slower_by_ms', acceptedP99Ms(operations, span) - acceptedP99Ms(operations, before), 150)
  },
  mutants: [
    slowCall('max_latency_s', callMs + 1),
    mutant('the pools collapse', 'goodput_ratio', (observed) => withoutOk(observed, spanOf(observed))),
    mutant('the pools do not recover', 'after_ratio', (observed) => withoutOk(observed, observed.after)),
    mutant('a replica reports a slow database as unreachable', 'unready', (observed) => ({
      vitals: {
        ...observed.vitals,
        ready: observed.vitals.ready.map((one) => ({ ...one, status: 503 })),
      },
    })),
    mutant('the link has no latency', 'slower_by_ms', (observed) => ({
      operations: observed.operations.map((one) => ({ ...one, end: one.start + 5 })),
    })),
  ],
})

const withoutOk = (observed: Observed, { at, until }: Span): Observed => ({
  ...observed,
  operations: observed.operations.filter(({ end }) => end < at || end >= until),
})
