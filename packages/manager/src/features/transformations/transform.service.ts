// Validates templates and decides where a body is rendered. Small bodies are rendered on the main thread with a budget
// that ends within milliseconds. Larger bodies and more expensive templates are rendered in worker threads.
import { LRUCache } from 'lru-cache'
import { TemplateError } from 'gotemplate'
import { createTransformPool, poolLimits } from './transform-pool.service.ts'
import {
  type Preview,
  type RenderOptions,
  type RenderTask,
  TransformProblem,
  createRenderer,
  maxTemplateBytes,
} from './transform.pure.ts'

export { TransformProblem } from './transform.pure.ts'
export type TransformOptions = RenderOptions
export type TransformService = ReturnType<typeof createTransformService>

type Transformation = {
  template: string
  inputMessageType: string | null
  outputMessageType: string | null
  body: Buffer
  /** The project whose share of the worker threads the rendering uses. */
  projectId: string
  application: { id: string; name: string; slug: string; description: string }
  endpoint: { id: string; name: string; consumeUrl: string; url: string | null; description: string }
  user: { id: string; username: string; name: string }
  at: Date
}
type RenderedBody = { output: Buffer; contentType: string }
/** Implementations for the main thread and for a worker thread. */
type Executors<Result> = { onMainThread: () => Result; inWorker: () => Promise<Result> }

/** The limits of the main thread for template and body in total. The worst case takes about 20 ms. */
const mainThreadLimits = { maxLength: 16_384, budget: { steps: 5_000, outputBytes: 32_768 } }
const maxCachedTemplates = 1_000

const contentTypes: Record<string, string> = {
  JSON: 'application/json',
  XML: 'application/xml',
  SOAP: 'text/xml; charset=utf-8',
}

export function createTransformService(options: TransformOptions, limits = poolLimits) {
  const renderer = createRenderer(options)
  const pool = createTransformPool(options, limits)
  // Templates that exceeded the budget of the main thread, with the size of the smallest such body.
  const workerOnlySizes = new LRUCache<string, number>({ max: maxCachedTemplates })
  const runOnSuitableThread = <Result>({ template, body }: RenderTask, executors: Executors<Result>) => {
    const isSmall = template.length + body.length <= mainThreadLimits.maxLength
    if (isSmall && body.length < (workerOnlySizes.get(template) ?? Infinity))
      try {
        return executors.onMainThread()
      } catch (error) {
        if (!(error instanceof TransformProblem && error.isExhausted)) throw error
        // Rendering has no side effects, so it can be restarted in a worker.
        workerOnlySizes.set(template, body.length)
      }
    return executors.inWorker()
  }
  return {
    /** Returns an error message for a template, or null if the template is valid. */
    findProblem: (text: string): string | null => {
      if (Buffer.byteLength(text) > maxTemplateBytes)
        return `transformationTemplate must be at most ${maxTemplateBytes} bytes long`
      if (!text.isWellFormed() || text.includes('\0'))
        return 'transformationTemplate must not contain malformed Unicode or U+0000'
      return (
        findCheckProblem(renderer.parse, text, 'transformationTemplate cannot be parsed') ??
        findCheckProblem(renderer.checkNames, text, 'transformationTemplate cannot be used')
      )
    },

    /**
     * Returns the rendered body and its content type, synchronously for small bodies. Throws TransformProblem, and 503
     * if the queue is full. The rendering takes ownership of the body: a large body is empty afterwards.
     */
    render: (transformation: Transformation): RenderedBody | Promise<RenderedBody> => {
      const task = createTask(transformation)
      const contentType = getContentType(transformation)
      return runOnSuitableThread<RenderedBody>(task, {
        onMainThread: () => ({
          output: Buffer.from(renderer.render(task, mainThreadLimits.budget)),
          contentType,
        }),
        inWorker: async () => ({
          output: await pool.render(task, getOwners(transformation)),
          contentType,
        }),
      })
    },

    /** Works like `render`, but returns a string with warnings about probable mistakes. */
    preview: async (transformation: Transformation): Promise<Preview & { contentType: string }> => {
      const task = createTask(transformation)
      const preview = await runOnSuitableThread<Preview>(task, {
        onMainThread: () => renderer.preview(task, mainThreadLimits.budget),
        inWorker: () => pool.preview(task, getOwners(transformation)),
      })
      return { ...preview, contentType: getContentType(transformation) }
    },

    close: pool.close,
  }
}

const getOwners = ({ projectId, application }: Transformation): [string, string] => [
  projectId,
  application.id,
]

const getContentType = ({ outputMessageType }: Transformation): string =>
  contentTypes[outputMessageType ?? 'JSON'] as string

/** Returns the error message that a check throws, or null. */
function findCheckProblem(check: (text: string) => void, text: string, failure: string): string | null {
  try {
    check(text)
    return null
  } catch (error) {
    if (error instanceof TemplateError) return `${failure}: ${error.message}`
    throw error
  }
}

function createTask({ template, body, at, ...rest }: Transformation): RenderTask {
  const { inputMessageType, outputMessageType, application, endpoint, user } = rest
  const names = {
    Application: {
      ID: application.id,
      Name: application.name,
      Slug: application.slug,
      Description: application.description,
    },
    Endpoint: {
      ID: endpoint.id,
      Name: endpoint.name,
      ConsumeURL: endpoint.consumeUrl,
      URL: endpoint.url ?? '',
      Description: endpoint.description,
    },
    User: { ID: user.id, Username: user.username, Name: user.name },
  }
  return { template, inputMessageType, outputMessageType, body, names, at }
}
