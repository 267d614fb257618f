// How long statements take, by the connections they run on.
import type { Registry } from 'prom-client'
import { createQuickHistogram } from '../quick-histogram.ts'

const pools = ['requests', 'lookups', 'long', 'jobs'] as const
export type PoolName = (typeof pools)[number]
export type OnStatementTime = (pool: PoolName, seconds: number) => void

/** Returns a function that counts a statement. */
export function createStatementTimes(registry: Registry): OnStatementTime {
  const seriesOf = createQuickHistogram(registry, {
    name: 'svc_db_query_duration_seconds',
    help: 'Time a statement takes, by the connections it runs on; failed ones count too.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
  })
  const observers = Object.fromEntries(pools.map((pool) => [pool, seriesOf({ pool })])) as Record<
    PoolName,
    (seconds: number) => void
  >
  return (pool, seconds) => observers[pool](seconds)
}
