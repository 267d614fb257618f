// One transformation, from the body's bytes to the rendered text: the body is read by its declared type and given to
// the template. Pure and synchronous, the same on the main thread and in a worker (transform.service.ts says which of
// them).
import { isUtf8 } from 'node:buffer'
import { LRUCache } from 'lru-cache'
import { type Template, TemplateError, goTime, parse } from 'gotemplate'
import { type TemplateEnv, templateFunctions } from './template-functions.pure.ts'
import { XmlProblem, xmlToMap } from './xml-map.pure.ts'

export type RenderOptions = {
  /** Go's own functions too, not only the seven. */
  builtins: boolean
  env: TemplateEnv
  maxOutputBytes: number
}

/** What kept a body from being transformed: the body itself, or the template. */
export class TransformProblem extends Error {
  readonly of: 'body' | 'template'
  /** Whether the template did not come to its end because a budget was used up. */
  readonly isExhausted: boolean
  constructor(of: TransformProblem['of'], message: string, isExhausted = false) {
    super(message)
    this.of = of
    this.isExhausted = isExhausted
  }
}

/** What is rendered, in a form that can be sent to a worker. */
export type RenderTask = {
  template: string
  inputMessageType: string | null
  body: Uint8Array
  /** What templates see beside the body, the time and the environment. */
  names: { Application: object; Endpoint: object; User: object }
  at: Date
}
/** What a rendering may spend at most. */
type RenderBudget = { steps: number; outputBytes: number }

export const maxTemplateBytes = 65_536
const maxDepth = 32
const maxContainers = 1_000_000
// Parsed templates take several times the memory of their text.
const maxRememberedLength = 4 * 1_048_576
const goBuiltins = 'and or not eq ne lt le gt ge len index slice print printf println html js urlquery'.split(
  ' ',
)

/** Parses templates, each once, and renders them. */
export function createRenderer({ builtins, env, maxOutputBytes }: RenderOptions) {
  let at = new Date()
  const functions = templateFunctions(env, () => rfc3339(at))
  const Env = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))
  const remembered = new LRUCache<string, Template>({
    maxSize: maxRememberedLength,
    sizeCalculation: (_template, text) => text.length + 1,
  })
  const parsed = (text: string): Template => {
    let template = remembered.get(text)
    if (template === undefined) {
      template = parse(text, {
        functions,
        builtins: builtins ? goBuiltins : false,
        hint: (_name, isBuiltin) => (isBuiltin ? 'set esb.template_builtins to use functions of Go' : ''),
        limits: { length: maxTemplateBytes },
      })
      remembered.set(text, template)
    }
    return template
  }
  const wholeBudget: RenderBudget = { steps: 100_000, outputBytes: maxOutputBytes }
  return {
    /** Parses a template, to see whether it is one; throws TemplateError. */
    parse: (text: string): void => void parsed(text),

    /** The rendered text; throws TransformProblem. The budget is one for all that the rendering does. */
    render: (task: RenderTask, { steps, outputBytes } = wholeBudget): string => {
      const Data = readBody(task.inputMessageType, task.body)
      ;({ at } = task)
      const Meta = { Timestamp: rfc3339(at), RequestTime: goTime(at) }
      const budget = { steps, outputBytes: Math.min(outputBytes, maxOutputBytes), depth: maxDepth }
      try {
        return parsed(task.template).execute({ Data, ...task.names, Meta, Env }, budget)
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error
        const message = `the transformation template failed: ${error.message}`
        throw new TransformProblem('template', message, error.phase === 'exec' && error.bound !== null)
      }
    },
  }
}

function readBody(type: string | null, bytes: Uint8Array): unknown {
  const refuse = (why = ''): never => {
    throw new TransformProblem('body', `the body is not ${type} as the endpoint expects${why}`)
  }
  if (type !== null && !isUtf8(bytes)) refuse(': it is not UTF-8')
  const text = utf8.decode(bytes)
  if (type === 'XML' || type === 'SOAP')
    try {
      return xmlToMap(text)
    } catch (error) {
      if (error instanceof XmlProblem) return refuse(`: ${error.message}`)
      throw error
    }
  if (isCrowded(bytes))
    throw new TransformProblem('body', `the body has more than ${maxContainers} lists and objects`)
  try {
    return JSON.parse(text) as unknown
  } catch {
    return type === 'JSON' ? refuse() : { Body: text }
  }
}

/**
 * Whether the lists and objects of a JSON text may be too many; they take some thirty times the memory of their text.
 */
function isCrowded(bytes: Uint8Array): boolean {
  if (bytes.length <= maxContainers) return false
  let containers = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0x5b || bytes[i] === 0x7b) containers++
  return containers > maxContainers
}

/** A byte order mark is dropped, and what is no UTF-8 becomes U+FFFD. */
const utf8 = new TextDecoder()

/** As Go writes a time in UTC: no fraction of a second. */
const rfc3339 = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`
