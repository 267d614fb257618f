// Worker threads for renderings that would block the event loop. Applications take turns, and one that floods the queue
// is refused. No limit is set to a thread's heap: Node ends the whole process when a parser runs into one.
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { createFairQueue } from '../../platform/throttle/fair-queue.ts'
import { unavailable } from '../../platform/errors.ts'
import type { RenderAnswer } from './transform.worker.ts'
import { type RenderOptions, type RenderTask, TransformProblem } from './transform.pure.ts'

export type PoolLimits = {
  threads: number
  /** Renderings that wait, at most half of them for one application. */
  maxQueue: number
  /** For one rendering, thread start included. */
  maxMs: number
}

// One core is left to the event loop.
const threads = Math.max(1, Math.min(2, availableParallelism() - 1))
export const poolLimits: PoolLimits = { threads, maxQueue: 32, maxMs: 3_000 }
const idleTimeoutMs = 60_000

/** Threads start when they are needed and end when they are idle. */
export function createTransformPool(
  options: RenderOptions,
  { threads: workers, maxQueue, maxMs }: PoolLimits,
) {
  const pool = new Piscina<RenderTask, RenderAnswer>({
    filename: new URL('./transform.worker.ts', import.meta.url).href,
    name: 'render',
    minThreads: 0,
    maxThreads: workers,
    idleTimeout: idleTimeoutMs,
    workerData: options,
  })
  const queue = createFairQueue({ workers, maxPerLane: maxQueue, maxPerOwner: Math.ceil(maxQueue / 2) })
  const run = async (task: RenderTask): Promise<RenderAnswer> => {
    const signal = AbortSignal.timeout(maxMs)
    // A view of a larger buffer, such as Node's pool, must not take the rest of it along.
    const isWhole = task.body.byteLength === task.body.buffer.byteLength
    const body = isWhole ? (task.body as Uint8Array<ArrayBuffer>) : new Uint8Array(task.body)
    try {
      return await pool.run({ ...task, body }, { signal, transferList: [body.buffer] })
    } catch (error) {
      if (!signal.aborted) throw error
      return { of: 'template', message: `the transformation template failed: it took more than ${maxMs} ms` }
    }
  }
  return {
    /** The rendered text in UTF-8; throws TransformProblem, and 503 when too many wait. Takes the body away. */
    render: async (task: RenderTask, owner: string): Promise<Buffer> => {
      const account = { lane: 'render', owner }
      const giveBack = queue.reserve(account)
      if (giveBack === null) throw unavailable('too many bodies are being transformed; try again')
      try {
        const answer = await queue.run(account, () => run(task))
        if (!(answer instanceof Uint8Array)) throw new TransformProblem(answer.of, answer.message)
        return Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength)
      } finally {
        giveBack()
      }
    },
    close: () => pool.destroy(),
  }
}
