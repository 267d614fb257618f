// Transformations: which templates are accepted, and where a body is rendered. Small bodies are rendered here, on the
// main thread, with a budget that ends within milliseconds; larger ones, and templates that need more, in worker
// threads.
import { LRUCache } from 'lru-cache'
import { TemplateError } from 'gotemplate'
import { createTransformPool, poolLimits } from './transform-pool.service.ts'
import {
  type Previewed,
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
  /** Whose turn the rendering takes. */
  projectId: string
  application: { id: string; name: string; slug: string; description: string }
  endpoint: { id: string; name: string; consumeUrl: string; url: string | null; description: string }
  user: { id: string; username: string; name: string }
  at: Date
}
type Rendered = { output: Buffer; contentType: string }
/** Where something is done, by the size of it. */
type Places<Result> = { here: () => Result; inThread: () => Promise<Result> }

/** What the main thread takes on, template and body together; the worst of it takes some 20 ms. */
const mainThread = { maxLength: 16_384, budget: { steps: 5_000, outputBytes: 32_768 } }
const maxRememberedTemplates = 1_000

const contentTypes: Record<string, string> = {
  JSON: 'application/json',
  XML: 'application/xml',
  SOAP: 'text/xml; charset=utf-8',
}

/** Parses and renders transformation templates. */
export function createTransformService(options: TransformOptions, limits = poolLimits) {
  const renderer = createRenderer(options)
  const pool = createTransformPool(options, limits)
  // Templates that were too much for the main thread, with the size of the smallest body for which they were.
  const tooLarge = new LRUCache<string, number>({ max: maxRememberedTemplates })
  const inPlace = <Result>({ template, body }: RenderTask, places: Places<Result>) => {
    const isSmall = template.length + body.length <= mainThread.maxLength
    if (isSmall && body.length < (tooLarge.get(template) ?? Infinity))
      try {
        return places.here()
      } catch (error) {
        if (!(error instanceof TransformProblem && error.isExhausted)) throw error
        // A rendering changes nothing, so it may begin again elsewhere.
        tooLarge.set(template, body.length)
      }
    return places.inThread()
  }
  return {
    /** What is wrong with a template, as a text; null when nothing is. */
    problemOf: (text: string): string | null => {
      if (Buffer.byteLength(text) > maxTemplateBytes)
        return `transformationTemplate must have at most ${maxTemplateBytes} bytes`
      if (!text.isWellFormed() || text.includes('\0'))
        return 'transformationTemplate must not contain broken Unicode or U+0000'
      return (
        problemBy(renderer.parse, text, 'transformationTemplate cannot be parsed') ??
        problemBy(renderer.checkNames, text, 'transformationTemplate cannot be used')
      )
    },

    /**
     * The rendered body and its content type, at once for small bodies; throws TransformProblem, and 503 when too many
     * large ones wait. The body belongs to the rendering from here on: a large one is empty afterwards.
     */
    render: (transformation: Transformation): Rendered | Promise<Rendered> => {
      const task = taskOf(transformation)
      const contentType = contentTypeOf(transformation)
      return inPlace<Rendered>(task, {
        here: () => ({ output: Buffer.from(renderer.render(task, mainThread.budget)), contentType }),
        inThread: async () => ({
          output: await pool.render(task, ownersOf(transformation)),
          contentType,
        }),
      })
    },

    /** The same as a text, with what is hardly meant so. */
    preview: async (transformation: Transformation): Promise<Previewed & { contentType: string }> => {
      const task = taskOf(transformation)
      const previewed = await inPlace<Previewed>(task, {
        here: () => renderer.preview(task, mainThread.budget),
        inThread: () => pool.preview(task, ownersOf(transformation)),
      })
      return { ...previewed, contentType: contentTypeOf(transformation) }
    },

    close: pool.close,
  }
}

const ownersOf = ({ projectId, application }: Transformation): [string, string] => [projectId, application.id]

const contentTypeOf = ({ outputMessageType }: Transformation): string =>
  contentTypes[outputMessageType ?? 'JSON'] as string

/** What a check throws, as a text. */
function problemBy(check: (text: string) => void, text: string, what: string): string | null {
  try {
    check(text)
    return null
  } catch (error) {
    if (error instanceof TemplateError) return `${what}: ${error.message}`
    throw error
  }
}

function taskOf({ template, body, at, ...rest }: Transformation): RenderTask {
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
