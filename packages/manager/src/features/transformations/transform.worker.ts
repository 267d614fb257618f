// This file runs in a worker thread of transform-pool.service.ts. It renders one task at a time, with its own template
// cache.
import { workerData } from 'node:worker_threads'
import { move } from 'piscina'
import {
  type Preview,
  type RenderOptions,
  type RenderTask,
  TransformProblem,
  createRenderer,
} from './transform.pure.ts'

/** Result types of the functions in this file. */
export type WorkerResults = { render: Uint8Array<ArrayBuffer>; preview: Preview }
/** Result of a failed rendering. */
export type FailedRendering = { problem: Pick<TransformProblem, 'source' | 'message' | 'logged'> }

const renderer = createRenderer(workerData as RenderOptions)
const encoder = new TextEncoder()

/** Renders to UTF-8. The bytes are transferred without a copy. */
export const render = (task: RenderTask): unknown =>
  catchProblem(() => move(encoder.encode(renderer.render(task))))
export const preview = (task: RenderTask): unknown => catchProblem(() => renderer.preview(task))

function catchProblem(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TransformProblem)) throw error
    const { source, message, logged } = error
    return { problem: { source, message, logged } } satisfies FailedRendering
  }
}
