// F07: PostgreSQL hangs. Its processes are stopped, so connections stay open but get no response. Callers receive 503
// within the service's timeouts, the replicas report that they are not ready, and they keep running.
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import {
  findWritten,
  longestMs,
  writesNeverRecover,
  recoverMs,
  shedPercent,
  slowCall,
} from '../mixed/spans.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Row } from '../row.ts'
import {
  type Vitals,
  findUnhealthy,
  grownMb,
  readyAfterMs,
  slowestHealthMs,
  unreadyAfterMs,
  watchVitals,
} from '../vitals.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & { vitals: Vitals; replicas: string[] }

const firstMs = 6_000
const hangMs = 20_000
const lastMs = 10_000
// 5 s for a connection or a statement, 500 ms for the server timeout, and the delay that a busy machine causes.
const latencyMs = 6_500
const flipMs = 3_000
const healthzMs = 100
const rssMb = 200
const recoveredMs = 5_000

async function observe(stage: MixedStage): Promise<Observed> {
  const load = await stage.startLoad((firstMs + hangMs + lastMs) / 1_000)
  const endWatch = watchVitals(stage.replicas)
  await load.at(firstMs)
  stage.log(`freezing every PostgreSQL process for ${hangMs / 1_000} s`)
  const at = Date.now()
  await stage.cluster.applyFault('postgres SIGSTOP')
  await load.at(firstMs + hangMs)
  const until = Date.now()
  await stage.cluster.applyFault('postgres SIGCONT')
  await load.end()
  const vitals = await endWatch()
  return {
    ...(await load.settle()),
    vitals,
    replicas: stage.replicas.map(({ name }) => name),
    faults: [{ name: 'PostgreSQL hangs', at, until }],
  }
}

const spanOf = ({ faults }: MixedObserved): { at: number; until: number } => faults[0] ?? { at: 0, until: 0 }

export const f07: Row = defineMixedRow<Observed>({
  id: 'F07',
  title: 'PostgreSQL hangs: all of its processes are stopped for 20 s',
  setup: () => ({ replicas: 3 }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    const { operations, vitals, replicas } = observed
    const span = spanOf(observed)
    // Login tokens are hashed one at a time, which is slow on a busy machine.
    const unhashed = operations.filter(({ op }) => op !== 'login' && op !== 'approve')
    figures.atMost('max_latency_s', longestMs(unhashed, span) / 1_000, latencyMs / 1_000)
    figures.atMost('ready_flip_ms', unreadyAfterMs(vitals, replicas, span), flipMs)
    figures.show('ready_again_ms', readyAfterMs(vitals, replicas, span))
    figures.none('healthz_not_200', findUnhealthy(vitals))
    figures.atMost('healthz_max_ms', slowestHealthMs(vitals, span), healthzMs)
    figures.atMost('rss_delta_mb', grownMb(vitals, span), rssMb)
    figures.show('shed_pct', shedPercent(operations, span))
    // No write may succeed during the fault. Otherwise, the server was not frozen.
    const written = findWritten(operations, { at: span.at + 500, until: span.until })
    figures.none(
      'written_during_outage',
      written.map(({ op }) => op),
    )
    figures.atMost('recover_ms', recoverMs(operations, span), recoveredMs)
  },
  mutants: [
    slowCall('max_latency_s', latencyMs + 1),
    writesNeverRecover(),
    mutant('a replica always reports that it is ready', 'ready_flip_ms', (observed) => ({
      vitals: {
        ...observed.vitals,
        ready: observed.vitals.ready.map((one) =>
          one.replica === observed.replicas[0] ? { ...one, status: 200 } : one,
        ),
      },
    })),
    mutant('a health check fails', 'healthz_not_200', (observed) => plantHealth(observed, { status: 0 })),
    mutant('a health check is slow', 'healthz_max_ms', (observed) =>
      plantHealth(observed, { ms: healthzMs + 1 }),
    ),
    mutant('a replica buffers all waiting requests', 'rss_delta_mb', (observed) => ({
      vitals: {
        ...observed.vitals,
        memory: observed.vitals.memory.map((one) =>
          one.at > spanOf(observed).at ? { ...one, mb: one.mb + 2 * rssMb } : one,
        ),
      },
    })),
    mutant('the server continues to work', 'written_during_outage', (observed) => {
      const { at } = spanOf(observed)
      const one = { op: 'create', key: 'x', start: at + 1_000, end: at + 1_001, status: 200 }
      return { operations: [...observed.operations, { ...one, outcome: 'ok' as const }] }
    }),
  ],
})

/** Changes the first health sample during the fault. */
function plantHealth(observed: Observed, changed: { status?: number; ms?: number }): Observed {
  const { health } = observed.vitals
  const index = health.findIndex(({ at }) => at >= spanOf(observed).at)
  return {
    ...observed,
    vitals: {
      ...observed.vitals,
      health: health.map((one, position) => (position === index ? { ...one, ...changed } : one)),
    },
  }
}
