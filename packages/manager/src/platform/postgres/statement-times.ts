// How long statements take, by the connections they run on.
import type { Registry } from 'prom-client'
import { createQuickHistogram } from '../quick-histogram.ts'

// `shared`: large reads and changes, which share connections of the pool for lookups.
const lanes = ['requests', 'lookups', 'shared', 'long', 'jobs'] as const
export type Lane = (typeof lanes)[number]
export type OnStatementTime = (lane: Lane, seconds: number) => void

/** Returns a function that counts a statement. */
export function createStatementTimes(registry: Registry): OnStatementTime {
  const seriesOf = createQuickHistogram(registry, {
    name: 'svc_db_query_duration_seconds',
    help: 'Time a statement takes, by the connections it runs on; failed ones count too.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
  })
  const observers = Object.fromEntries(lanes.map((pool) => [pool, seriesOf({ pool })])) as Record<
    Lane,
    (seconds: number) => void
  >
  return (lane, seconds) => observers[lane](seconds)
}
