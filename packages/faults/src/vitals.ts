// Samples the health, readiness and memory of replicas during a fault.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ReadinessSample } from './comms-stage.ts'
import type { FaultSpan } from './mixed/history.ts'
import type { Replica } from './replicas.ts'

/** `status` is 0 if no response arrived. */
type HealthSample = { replica: string; at: number; status: number; ms: number }
export type Vitals = {
  /** Responses from `/healthz` and their durations. */
  health: HealthSample[]
  ready: ReadinessSample[]
  /** The memory in megabytes. */
  memory: { replica: string; at: number; mb: number }[]
  /** The number of requests that wait for a database connection. Empty unless `withWaiting` is set. */
  waiting: { replica: string; at: number; count: number }[]
}
export type WatchedReplica = { name: string; pid: number; healthUrl: string }
type Span = Pick<FaultSpan, 'at' | 'until'>

/** Samples the replicas until the returned function is called. */
export function watchVitals(
  replicas: readonly Replica[],
  { withWaiting = false } = {},
): () => Promise<Vitals> {
  const watched = replicas.map(({ name, pid, readyUrl }): WatchedReplica => ({
    name,
    pid,
    healthUrl: new URL(readyUrl).origin,
  }))
  const worker = new Worker(new URL('vitals-worker.ts', import.meta.url), {
    workerData: { replicas: watched, withWaiting },
  })
  // The worker must not keep the process alive if the scenario fails elsewhere.
  worker.unref()
  return async () => {
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    worker.postMessage('end')
    const [vitals] = (await once(worker, 'message')) as [Vitals]
    await worker.terminate()
    return vitals
  }
}

const isIn = ({ at, until }: Span, time: number): boolean => time >= at && time <= until

/** Returns `/healthz` responses other than 200. */
export const findUnhealthy = ({ health }: Pick<Vitals, 'health'>): string[] =>
  health.filter(({ status }) => status !== 200).map(({ replica, status }) => `${replica}: ${status}`)

/** Returns the longest duration of a `/healthz` call in the span. */
export const slowestHealthMs = ({ health }: Pick<Vitals, 'health'>, span: Span): number =>
  Math.max(0, ...health.filter(({ at }) => isIn(span, at)).map(({ ms }) => ms))

/**
 * Returns the time until all of these replicas had reported that they are not ready, or Infinity if one of them never
 * did.
 */
export const unreadyAfterMs = (
  { ready }: Pick<Vitals, 'ready'>,
  replicas: readonly string[],
  span: Span,
): number => lastOf(replicas, (name) => firstAt(ready, name, span, 503) - span.at)

/** Returns the time from the end of the span until all of these replicas were ready again. */
export const readyAfterMs = (
  { ready }: Pick<Vitals, 'ready'>,
  replicas: readonly string[],
  span: Span,
): number =>
  lastOf(replicas, (name) => firstAt(ready, name, { at: span.until, until: Infinity }, 200) - span.until)

/** Returns the replicas that were not ready at least once in the span. */
export const findUnready = (
  { ready }: Pick<Vitals, 'ready'>,
  replicas: readonly string[],
  span: Span,
): string[] => replicas.filter((name) => Number.isFinite(firstAt(ready, name, span, 503)))

function firstAt(samples: readonly ReadinessSample[], name: string, span: Span, status: number): number {
  const found = samples.find((one) => one.replica === name && one.status === status && isIn(span, one.at))
  return found?.at ?? Infinity
}

const lastOf = (replicas: readonly string[], valueOf: (name: string) => number): number =>
  Math.max(...replicas.map(valueOf))

/** Returns the maximum memory growth of a replica in megabytes since the start of the span. */
export function grownMb({ memory }: Pick<Vitals, 'memory'>, { at }: Pick<Span, 'at'>): number {
  const grown = [...Map.groupBy(memory, ({ replica }) => replica).values()].map((samples) => {
    const before = samples.filter((one) => one.at < at).map(({ mb }) => mb)
    const after = samples.filter((one) => one.at >= at).map(({ mb }) => mb)
    return Math.max(0, ...after) - Math.max(0, ...before)
  })
  return Math.max(0, ...grown)
}
