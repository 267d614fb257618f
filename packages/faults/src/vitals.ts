// How replicas are while something is done to them: whether they live, whether they are ready, and what they hold.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ReadinessSample } from './comms-stage.ts'
import type { FaultSpan } from './mixed/history.ts'
import type { Replica } from './replicas.ts'

/** `status` is 0 without an answer. */
type HealthSample = { replica: string; at: number; status: number; ms: number }
export type Vitals = {
  /** What `/healthz` answered, and how long that took. */
  health: HealthSample[]
  ready: ReadinessSample[]
  /** Megabytes. */
  memory: { replica: string; at: number; mb: number }[]
  /** Requests that wait for a connection to the database; only if asked for. */
  waiting: { replica: string; at: number; count: number }[]
}
export type Patient = { name: string; pid: number; healthUrl: string }
type Span = Pick<FaultSpan, 'at' | 'until'>

/** Watches these until told to end. */
export function watchVitals(
  replicas: readonly Replica[],
  { withWaiting = false } = {},
): () => Promise<Vitals> {
  const patients = replicas.map(({ name, pid, readyUrl }): Patient => ({
    name,
    pid,
    healthUrl: new URL(readyUrl).origin,
  }))
  const worker = new Worker(new URL('vitals-worker.ts', import.meta.url), {
    workerData: { replicas: patients, withWaiting },
  })
  // A row that fails elsewhere does not wait for it.
  worker.unref()
  return async () => {
    worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That of windows; a thread has none.
    worker.postMessage('end')
    const [vitals] = (await once(worker, 'message')) as [Vitals]
    await worker.terminate()
    return vitals
  }
}

const isIn = ({ at, until }: Span, time: number): boolean => time >= at && time <= until

/** Answers of `/healthz` other than 200. */
export const findUnhealthy = ({ health }: Pick<Vitals, 'health'>): string[] =>
  health.filter(({ status }) => status !== 200).map(({ replica, status }) => `${replica}: ${status}`)

/** The longest that `/healthz` took in the span. */
export const slowestHealthMs = ({ health }: Pick<Vitals, 'health'>, span: Span): number =>
  Math.max(0, ...health.filter(({ at }) => isIn(span, at)).map(({ ms }) => ms))

/** How long it took until the last of these replicas said that it is not ready; Infinity when one never did. */
export const unreadyAfterMs = (
  { ready }: Pick<Vitals, 'ready'>,
  replicas: readonly string[],
  span: Span,
): number => lastOf(replicas, (name) => firstAt(ready, name, span, 503) - span.at)

/** How long it took, from the end of the span, until the last of these replicas was ready again. */
export const readyAfterMs = (
  { ready }: Pick<Vitals, 'ready'>,
  replicas: readonly string[],
  span: Span,
): number =>
  lastOf(replicas, (name) => firstAt(ready, name, { at: span.until, until: Infinity }, 200) - span.until)

/** Replicas of these that once were not ready in the span. */
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

/** How many megabytes a replica held more, at most, than before the span. */
export function grownMb({ memory }: Pick<Vitals, 'memory'>, { at }: Pick<Span, 'at'>): number {
  const grown = [...Map.groupBy(memory, ({ replica }) => replica).values()].map((samples) => {
    const before = samples.filter((one) => one.at < at).map(({ mb }) => mb)
    const after = samples.filter((one) => one.at >= at).map(({ mb }) => mb)
    return Math.max(0, ...after) - Math.max(0, ...before)
  })
  return Math.max(0, ...grown)
}
