// Worker threads for renderings that would block the event loop. Projects take turns, and so do the applications of each;
// one that floods the queue is refused. No limit is set to a thread's heap: Node ends the whole process when a parser runs into one.
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { type Owners, createFairShare } from '../../platform/throttle/fair-share.ts'
import type { Answers, Refusal } from './transform.worker.ts'
import { type Previewed, type RenderOptions, type RenderTask, TransformProblem } from './transform.pure.ts'

export type PoolLimits = {
  threads: number
  /** Renderings that wait. */
  maxQueue: number
  /** For one rendering, thread start included. */
  maxMs: number
}

// One core is left to the event loop.
const threads = Math.max(1, Math.min(2, availableParallelism() - 1))
export const poolLimits: PoolLimits = { threads, maxQueue: 32, maxMs: 3_000 }
const idleTimeoutMs = 60_000
const maxWaitMs = 10_000

/** Threads start when they are needed and end when they are idle. */
export function createTransformPool(
  options: RenderOptions,
  { threads: workers, maxQueue, maxMs }: PoolLimits,
) {
  const pool = new Piscina<RenderTask, Answers[keyof Answers] | Refusal>({
    filename: new URL('./transform.worker.ts', import.meta.url).href,
    name: 'render',
    minThreads: 0,
    maxThreads: workers,
    idleTimeout: idleTimeoutMs,
    workerData: options,
  })
  const turns = createFairShare({
    capacity: workers,
    maxWaiting: maxQueue,
    maxWaitMs,
    full: 'too many bodies are being transformed; try again',
  })
  const late = `the transformation template failed: it took more than ${maxMs} ms`
  const tookTooLong: Refusal = { problem: { of: 'template', message: late, logged: late } }
  const run = async <Name extends keyof Answers>(name: Name, task: RenderTask): Promise<Answers[Name]> => {
    const signal = AbortSignal.timeout(maxMs)
    // A view of a larger buffer, such as Node's pool, must not take the rest of it along.
    const isWhole = task.body.byteLength === task.body.buffer.byteLength
    const body = isWhole ? (task.body as Uint8Array<ArrayBuffer>) : new Uint8Array(task.body)
    const transferList = [body.buffer]
    const answer = await pool
      .run({ ...task, body }, { name, signal, transferList })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error
        return tookTooLong
      })
    if (!('problem' in answer)) return answer as Answers[Name]
    throw new TransformProblem(answer.problem.of, answer.problem.message, answer.problem)
  }
  return {
    /** The rendered text in UTF-8; throws TransformProblem, and 503 when too many wait. Takes the body away. */
    render: async (task: RenderTask, owners: Owners): Promise<Buffer> => {
      const { buffer, byteOffset, byteLength } = await turns.run(owners, () => run('render', task))
      return Buffer.from(buffer, byteOffset, byteLength)
    },
    /** The same as a text, with what is hardly meant so. */
    preview: (task: RenderTask, owners: Owners): Promise<Previewed> =>
      turns.run(owners, () => run('preview', task)),
    close: () => pool.destroy(),
  }
}
