// Runs in a worker thread of transform-pool.service.ts: one rendering after the other, with its own parsed templates.
import { workerData } from 'node:worker_threads'
import { move } from 'piscina'
import { type RenderOptions, type RenderTask, TransformProblem, createRenderer } from './transform.pure.ts'

/** The rendered text in UTF-8, or why there is none. */
export type RenderAnswer = Uint8Array<ArrayBuffer> | Pick<TransformProblem, 'of' | 'message'>

const renderer = createRenderer(workerData as RenderOptions)
const encoder = new TextEncoder()

/** Renders; the bytes change hands without being copied. */
export function render(task: RenderTask): unknown {
  try {
    return move(encoder.encode(renderer.render(task)))
  } catch (error) {
    if (error instanceof TransformProblem) return { of: error.of, message: error.message }
    throw error
  }
}
