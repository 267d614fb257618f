// F09: the pools are exhausted. First, a table is locked so that every connection waits for it, at more than
// twice the load that can be served. Then all connections of the server are occupied. Excess calls are
// rejected immediately, the queue is bounded, and the service recovers without a restart.
import { type HeldResource, occupyConnections, lockTable } from '../exhaustion.ts'
import type { FaultSpan } from '../mixed/history.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import { type Span, acceptedP99Ms, longestMs, recoverMs, shedPercent, slowCall } from '../mixed/spans.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Operation } from '../recorder.ts'
import type { Row } from '../row.ts'
import { type Vitals, findUnhealthy, watchVitals } from '../vitals.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & { vitals: Vitals; connections: number; faults: [FaultSpan, FaultSpan] }

const firstMs = 6_000
const holdMs = 10_000
const pauseMs = 8_000
const lastMs = 8_000
const env = { SVC_DATABASE_POOL_SIZE: '5', SVC_DATABASE_MAX_WAITING: '20' }
// The configured limit, plus a margin for internal work of the service.
const maxWaiting = 40
// 15 connections that each wait 5 s for the lock serve 3 calls per second.
const rates = { creates: 20, renames: 6 }
const recoveredMs = 5_000
// Includes the wait for a connection, the wait for the lock, and the delay that a busy machine causes.
const latencyMs = 11_500
const acceptedMs = 11_000
const tableWrites = new Set(['create', 'rename'])

async function observe(stage: MixedStage): Promise<Observed> {
  const { cluster } = stage
  const load = await stage.startLoad((firstMs + 2 * holdMs + pauseMs + lastMs) / 1_000, rates)
  const endWatch = watchVitals(stage.replicas, { withWaiting: true })
  await load.at(firstMs)
  stage.log(`locking the table tenants for ${holdMs / 1_000} s`)
  const lock = await lockTable(cluster, 'tenants')
  const locked = await spanWhile(lock, () => load.at(firstMs + holdMs))
  await load.at(firstMs + holdMs + pauseMs)
  stage.log(`occupying all connections for ${holdMs / 1_000} s`)
  const connections = await occupyConnections(cluster)
  const full = await spanWhile(connections, () => load.at(firstMs + 2 * holdMs + pauseMs))
  await load.end()
  const vitals = await endWatch()
  return {
    ...(await load.settle()),
    vitals,
    connections: connections.count,
    faults: [
      { name: 'tenants are locked', ...locked },
      { name: 'all connections are occupied', ...full },
    ],
  }
}

async function spanWhile(held: HeldResource, wait: () => Promise<void>): Promise<Span> {
  const at = Date.now()
  try {
    await wait()
  } finally {
    await held.release()
  }
  return { at, until: Date.now() }
}

const maxWaitingOf = ({ waiting }: Vitals): number =>
  waiting.reduce((max, { count }) => Math.max(max, count), 0)

const onTable = (operations: readonly Operation[]): Operation[] =>
  operations.filter(({ op }) => tableWrites.has(op))

export const f09: Row = defineMixedRow<Observed>({
  id: 'F09',
  title:
    'pools are exhausted: a table is locked for 10 s, then all connections of the server are occupied for 10 s',
  setup: () => ({ replicas: 3, env }),
  limitSeconds: 300,
  observe,
  judge: (figures, observed) => {
    const { operations, vitals, faults } = observed
    const [locked, full] = faults
    figures.atLeast('shed_pct', shedPercent(onTable(operations), locked), 50)
    figures.show('shed_pct_all', shedPercent(operations, locked))
    figures.atLeast('shed_pct_full', shedPercent(operations, full), 50)
    figures.show('connections', observed.connections)
    figures.atMost('waiting', maxWaitingOf(vitals), maxWaiting)
    // Login tokens are hashed one at a time, which is slow on a busy machine.
    const unhashed = operations.filter(({ op }) => op !== 'login' && op !== 'approve')
    const latencies = faults.map((span) => longestMs(unhashed, span) / 1_000)
    figures.atMost('max_latency_s', Math.max(...latencies), latencyMs / 1_000)
    figures.atMost('p99_accepted_ms', acceptedP99Ms(operations, locked), acceptedMs)
    figures.none('healthz_not_200', findUnhealthy(vitals))
    figures.atMost('recover_ms', recoverMs(operations, locked, tableWrites), recoveredMs)
    figures.atMost('recover_full_ms', recoverMs(operations, full), recoveredMs)
  },
  mutants: [
    slowCall('max_latency_s', latencyMs + 1),
    mutant('no call is shed', 'shed_pct', (observed) => withStatus(observed, 0, 0)),
    mutant('connections are still available', 'shed_pct_full', (observed) => withStatus(observed, 1, 200)),
    mutant('the queue has no bound', 'waiting', (observed) => ({
      vitals: { ...observed.vitals, waiting: [{ replica: 'x', at: 0, count: maxWaiting + 1 }] },
    })),
    mutant('an accepted call waits too long', 'p99_accepted_ms', (observed) => ({
      operations: observed.operations.map((one) => ({ ...one, end: one.start + acceptedMs + 1 })),
    })),
    mutant('a replica is not alive', 'healthz_not_200', (observed) => ({
      vitals: { ...observed.vitals, health: [{ replica: 'x', at: 0, status: 0, ms: 1 }] },
    })),
    ...['recover_ms', 'recover_full_ms'].map((breaks, index) => ({
      name: 'writes never succeed again',
      breaks,
      plant: (observed: Observed) => ({
        ...observed,
        operations: observed.operations.filter(({ end }) => end < (observed.faults[index]?.until ?? 0)),
      }),
    })),
  ],
})

/** Sets the status of every call that started during this fault. */
const withStatus = (observed: Observed, fault: number, status: number): Observed => ({
  ...observed,
  operations: observed.operations.map((one) =>
    one.start >= (observed.faults[fault]?.at ?? 0) && one.start < (observed.faults[fault]?.until ?? 0)
      ? { ...one, status }
      : one,
  ),
})
