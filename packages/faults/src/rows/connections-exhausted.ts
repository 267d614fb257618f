// F09: the pools are exhausted. First a table is locked, so that every connection waits for it, with more than twice the calls
// that can be served; then all connections of the server are taken. What does not fit is refused at once, the queue has a
// bound, and all goes on without a restart.
import { type Held, holdConnections, holdTable } from '../exhaustion.ts'
import type { FaultSpan } from '../mixed/history.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import { type Span, acceptedP99Ms, longestMs, recoverMs, shedPercent, waitsLong } from '../mixed/spans.ts'
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
// Work of the service may wait besides requests.
const waitingMost = 40
// 15 connections, each of which waits 5 s for the lock, serve 3 a second.
const rates = { creates: 20, renames: 6 }
const recoveredMs = 5_000
// For a connection, then for the lock; and what a busy machine adds.
const latencyMs = 11_500
const acceptedMs = 11_000
const onTable = new Set(['create', 'rename'])

async function observe(stage: MixedStage): Promise<Observed> {
  const { cluster } = stage
  const load = await stage.startLoad((firstMs + 2 * holdMs + pauseMs + lastMs) / 1_000, rates)
  const endWatch = watchVitals(stage.replicas, { withWaiting: true })
  await load.at(firstMs)
  stage.say(`nobody gets at tenants for ${holdMs / 1_000} s`)
  const lock = await holdTable(cluster, 'tenants')
  const locked = await spanWhile(lock, () => load.at(firstMs + holdMs))
  await load.at(firstMs + holdMs + pauseMs)
  stage.say(`nobody gets a connection for ${holdMs / 1_000} s`)
  const connections = await holdConnections(cluster)
  const full = await spanWhile(connections, () => load.at(firstMs + 2 * holdMs + pauseMs))
  await load.end()
  const vitals = await endWatch()
  return {
    ...(await load.settle()),
    vitals,
    connections: connections.count,
    faults: [
      { name: 'tenants are locked', ...locked },
      { name: 'all connections are taken', ...full },
    ],
  }
}

async function spanWhile(held: Held, wait: () => Promise<void>): Promise<Span> {
  const at = Date.now()
  try {
    await wait()
  } finally {
    await held.release()
  }
  return { at, until: Date.now() }
}

const mostWaiting = ({ waiting }: Vitals): number =>
  waiting.reduce((most, { count }) => Math.max(most, count), 0)

const ofTable = (operations: readonly Operation[]): Operation[] =>
  operations.filter(({ op }) => onTable.has(op))

export const f09: Row = defineMixedRow<Observed>({
  id: 'F09',
  title:
    'pools are exhausted: a table is locked for 10 s, then all connections of the server are taken for 10 s',
  setup: () => ({ replicas: 3, env }),
  limitSeconds: 300,
  observe,
  judge: (figures, observed) => {
    const { operations, vitals, faults } = observed
    const [locked, full] = faults
    figures.atLeast('shed_pct', shedPercent(ofTable(operations), locked), 50)
    figures.show('shed_pct_all', shedPercent(operations, locked))
    figures.atLeast('shed_pct_full', shedPercent(operations, full), 50)
    figures.show('connections', observed.connections)
    figures.atMost('waiting', mostWaiting(vitals), waitingMost)
    // Tokens of logins are hashed, one after the other, which takes its time on a busy machine.
    const unhashed = operations.filter(({ op }) => op !== 'login' && op !== 'approve')
    const latencies = faults.map((span) => longestMs(unhashed, span) / 1_000)
    figures.atMost('max_latency_s', Math.max(...latencies), latencyMs / 1_000)
    figures.atMost('p99_accepted_ms', acceptedP99Ms(operations, locked), acceptedMs)
    figures.none('healthz_not_200', findUnhealthy(vitals))
    figures.atMost('recover_ms', recoverMs(operations, locked, onTable), recoveredMs)
    figures.atMost('recover_full_ms', recoverMs(operations, full), recoveredMs)
  },
  mutants: [
    waitsLong('max_latency_s', latencyMs + 1),
    mutant('everybody is kept waiting', 'shed_pct', (observed) => withStatus(observed, 0, 0)),
    mutant('connections are left', 'shed_pct_full', (observed) => withStatus(observed, 1, 200)),
    mutant('the queue has no bound', 'waiting', (observed) => ({
      vitals: { ...observed.vitals, waiting: [{ replica: 'x', at: 0, count: waitingMost + 1 }] },
    })),
    mutant('who is accepted waits for too long', 'p99_accepted_ms', (observed) => ({
      operations: observed.operations.map((one) => ({ ...one, end: one.start + acceptedMs + 1 })),
    })),
    mutant('a replica does not live', 'healthz_not_200', (observed) => ({
      vitals: { ...observed.vitals, health: [{ replica: 'x', at: 0, status: 0, ms: 1 }] },
    })),
    ...['recover_ms', 'recover_full_ms'].map((breaks, index) => ({
      name: 'nobody can write any more',
      breaks,
      plant: (observed: Observed) => ({
        ...observed,
        operations: observed.operations.filter(({ end }) => end < (observed.faults[index]?.until ?? 0)),
      }),
    })),
  ],
})

/** Every call that began in this fault is answered so. */
const withStatus = (observed: Observed, fault: number, status: number): Observed => ({
  ...observed,
  operations: observed.operations.map((one) =>
    one.start >= (observed.faults[fault]?.at ?? 0) && one.start < (observed.faults[fault]?.until ?? 0)
      ? { ...one, status }
      : one,
  ),
})
