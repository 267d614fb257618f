// This service runs renderings in worker threads if they would block the event loop. Projects take turns, and
// so do the applications of a project. An application that floods the queue is rejected. Threads have no heap
// limit, because Node terminates the whole process if a parser exceeds one.
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { type Owners, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { WorkerResults, FailedRendering } from './transform.worker.ts'
import { type Preview, type RenderOptions, type RenderTask, TransformProblem } from './transform.pure.ts'

export type PoolLimits = {
  threads: number
  /** Maximum number of queued renderings. */
  maxQueue: number
  /** Timeout of one rendering, including thread start. */
  maxMs: number
}

// One core is reserved for the event loop.
const threads = Math.max(1, Math.min(2, availableParallelism() - 1))
export const poolLimits: PoolLimits = { threads, maxQueue: 32, maxMs: 3_000 }
const idleTimeoutMs = 60_000
const maxWaitMs = 10_000

/** Creates the pool. Threads start on demand and stop when idle. */
export function createTransformPool(
  options: RenderOptions,
  { threads: workers, maxQueue, maxMs }: PoolLimits,
) {
  const pool = new Piscina<RenderTask, WorkerResults[keyof WorkerResults] | FailedRendering>({
    filename: new URL('./transform.worker.ts', import.meta.url).href,
    name: 'render',
    minThreads: 0,
    maxThreads: workers,
    idleTimeout: idleTimeoutMs,
    workerData: options,
  })
  const threadShare = createFairShare({
    capacity: workers,
    maxWaiting: maxQueue,
    maxWaitMs,
    overloadMessage: 'too many transformations are in progress; try again',
  })
  const timeoutMessage = `the transformation template failed: it took more than ${maxMs} ms`
  const timeoutResult: FailedRendering = {
    problem: { source: 'template', message: timeoutMessage, logged: timeoutMessage },
  }
  const runTask = async <Name extends keyof WorkerResults>(
    name: Name,
    task: RenderTask,
  ): Promise<WorkerResults[Name]> => {
    const signal = AbortSignal.timeout(maxMs)
    // A view of a larger buffer, such as the Node pool, is copied, because a transfer would detach the whole buffer.
    const isWhole = task.body.byteLength === task.body.buffer.byteLength
    const body = isWhole ? (task.body as Uint8Array<ArrayBuffer>) : new Uint8Array(task.body)
    const transferList = [body.buffer]
    const response = await pool
      .run({ ...task, body }, { name, signal, transferList })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error
        return timeoutResult
      })
    if (!('problem' in response)) return response as WorkerResults[Name]
    throw new TransformProblem(response.problem.source, response.problem.message, response.problem)
  }
  return {
    /**
     * Returns the rendered text in UTF-8. Throws TransformProblem, and 503 if the queue is full. Transfers the body.
     */
    render: async (task: RenderTask, owners: Owners): Promise<Buffer> => {
      const { buffer, byteOffset, byteLength } = await threadShare.run(owners, () => runTask('render', task))
      return Buffer.from(buffer, byteOffset, byteLength)
    },
    /** Works like `render`, but returns a string with warnings about probable mistakes. */
    preview: (task: RenderTask, owners: Owners): Promise<Preview> =>
      threadShare.run(owners, () => runTask('preview', task)),
    close: () => pool.destroy(),
  }
}
