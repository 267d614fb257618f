// Runs in a worker thread of transform-pool.service.ts: one rendering after the other, with its own parsed templates.
import { workerData } from 'node:worker_threads'
import { move } from 'piscina'
import {
  type Previewed,
  type RenderOptions,
  type RenderTask,
  TransformProblem,
  createRenderer,
} from './transform.pure.ts'

/** What each function below answers, if it does. */
export type Answers = { render: Uint8Array<ArrayBuffer>; preview: Previewed }
/** Why there is no answer. */
export type Refusal = { problem: Pick<TransformProblem, 'of' | 'message' | 'logged'> }

const renderer = createRenderer(workerData as RenderOptions)
const encoder = new TextEncoder()

/** Renders to UTF-8; the bytes change hands without being copied. */
export const render = (task: RenderTask): unknown => answer(() => move(encoder.encode(renderer.render(task))))
export const preview = (task: RenderTask): unknown => answer(() => renderer.preview(task))

function answer(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TransformProblem)) throw error
    const { of, message, logged } = error
    return { problem: { of, message, logged } } satisfies Refusal
  }
}
