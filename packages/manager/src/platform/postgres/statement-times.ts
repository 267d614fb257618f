// Measures statement durations, separately for each kind of connection.
import type { Registry } from 'prom-client'
import { createQuickHistogram } from '../quick-histogram.ts'

// `shared`: large reads and changes, which use connections of the lookup pool.
const lanes = ['requests', 'lookups', 'shared', 'long', 'jobs'] as const
/** The kind of connection that a statement runs on; a label value of the metric. */
export type PoolName = (typeof lanes)[number]
/** Records the duration of a statement. */
export type OnStatementTime = (lane: PoolName, seconds: number) => void

/** Returns a function that records a statement in the histogram. */
export function createStatementTimes(registry: Registry): OnStatementTime {
  const createSeries = createQuickHistogram(registry, {
    name: 'svc_db_query_duration_seconds',
    help: 'Duration of SQL statements by connection pool, including failed statements.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
  })
  const observers = Object.fromEntries(lanes.map((pool) => [pool, createSeries({ pool })])) as Record<
    PoolName,
    (seconds: number) => void
  >
  return (lane, seconds) => observers[lane](seconds)
}
