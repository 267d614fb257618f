// F10: a session of another program leaves a transaction open, so that no dead row can be removed. The service
// continues to work, and its own transactions never stay open for long.
import { Client } from 'pg'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import { type Span, okPerSecond } from '../mixed/spans.ts'
import type { MixedStage } from '../mixed/stage.ts'
import { type IdleTransactions, watchIdleTransactions } from '../own-sessions.ts'
import type { Delivery } from '../recorder.ts'
import type { Row } from '../row.ts'
import { quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & {
  before: Span
  /** The last part of the period during which the transaction is open. */
  late: Span
  deadRows: number
  /** Number of transactions that started after the open transaction. */
  pinned: number
  idle: IdleTransactions
}

const warmMs = 5_000
const firstMs = 25_000
// In production, such sessions stay open for hours. Their cost grows linearly, so 2 minutes are enough to
// detect growth.
const pinMs = 120_000
const lateMs = 20_000
const firingsPerSecond = 40
const minRatio = 0.7
const claimMs = 2_000
// The server terminates such a session after 5 s. The rest is the sampling interval.
const idleSeconds = 6.5

async function observe(stage: MixedStage): Promise<Observed> {
  const { cluster } = stage
  const load = await stage.startLoad((firstMs + pinMs) / 1_000, { firings: firingsPerSecond })
  const endIdle = watchIdleTransactions(cluster.sql)
  const holder = new Client({ connectionString: cluster.adminUrl, application_name: 'a report' })
  // The client may still be connected when the server stops.
  holder.on('error', () => undefined)
  stage.registerPart({ end: () => holder.end() })
  await holder.connect()
  await load.at(firstMs)
  stage.log(`opening a foreign transaction for ${pinMs / 1_000} s`)
  await holder.query('begin isolation level repeatable read')
  await holder.query('select count(*) from trigger_runs')
  const at = Date.now()
  await load.end()
  const until = Date.now()
  const { deadRows, pinned } = await readPinned(stage)
  await holder.query('rollback')
  const idle = await endIdle()
  return {
    ...(await load.settle()),
    before: { at: load.startedAt + warmMs, until: at },
    late: { at: until - lateMs, until },
    deadRows,
    pinned,
    idle,
    faults: [{ name: 'a transaction stays open', at, until }],
  }
}

async function readPinned({ cluster }: MixedStage): Promise<{ deadRows: number; pinned: number }> {
  const { rows } = await cluster.sql.query<{ deadRows: number; pinned: number }>(
    `select (select coalesce(sum(n_dead_tup), 0)::int from pg_stat_user_tables) as "deadRows",
       (select coalesce(max(age(backend_xmin)), 0)::int from pg_stat_activity where application_name = 'a report') as pinned`,
  )
  return rows[0] ?? { deadRows: 0, pinned: 0 }
}

/** Returns the throughput per second: the number of acknowledged calls, and of runs that backends accepted. */
const doneIn = ({ operations, deliveries }: MixedObserved, span: Span): number =>
  okPerSecond(operations, span) +
  arrivedIn(deliveries, span).filter(({ status }) => status === 200).length / ((span.until - span.at) / 1_000)

const arrivedIn = (deliveries: readonly Delivery[], { at, until }: Span): Delivery[] =>
  deliveries.filter((one) => one.at >= at && one.at < until)

/**
 * Returns the 95th percentile of the lag of runs that arrived in the span. The lag includes finding, claiming and
 * sending the runs.
 */
const claimedP95Ms = (deliveries: readonly Delivery[], span: Span): number =>
  quantile(
    arrivedIn(deliveries, span)
      .filter(({ attempt }) => attempt === 1)
      .map(({ at, scheduledAt }) => at - scheduledAt)
      .sort((a, b) => a - b),
    0.95,
  )

export const f10: Row = defineMixedRow<Observed>({
  id: 'F10',
  title: 'a foreign session stays idle in a transaction for 2 minutes: no dead row can be removed',
  setup: () => ({ replicas: 3 }),
  limitSeconds: 400,
  observe,
  judge: (figures, observed) => {
    const { deliveries, before, late, idle } = observed
    figures.show('done_s', doneIn(observed, before))
    figures.atLeast('tput_ratio', doneIn(observed, late) / doneIn(observed, before), minRatio)
    figures.show('dead_tuples', observed.deadRows)
    // Many transactions must have started after the open one. Otherwise, it held back no dead rows.
    figures.atLeast('pinned_xids', observed.pinned, 500)
    figures.show('claim_p95_before_ms', claimedP95Ms(deliveries, before))
    figures.atMost('claim_p95_ms', claimedP95Ms(deliveries, late), claimMs)
    figures.show('own_idle_tx_seen', idle.seen)
    figures.atMost('own_idle_tx_s', idle.longest, idleSeconds)
  },
  mutants: [
    mutant('throughput drops', 'tput_ratio', (observed) => ({
      operations: observed.operations.filter(({ end }) => end < observed.late.at),
      deliveries: observed.deliveries.filter(({ at }) => at < observed.late.at),
    })),
    mutant('finding due runs becomes slower over time', 'claim_p95_ms', (observed) => ({
      deliveries: observed.deliveries.map((one) => ({ ...one, scheduledAt: one.at - claimMs - 1 })),
    })),
    mutant('no transaction ID is held back', 'pinned_xids', () => ({ pinned: 0 })),
    mutant('a transaction of the service stays open as well', 'own_idle_tx_s', () => ({
      idle: { longest: 60, seen: 120 },
    })),
  ],
})
