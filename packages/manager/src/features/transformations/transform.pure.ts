// One transformation, from the body's bytes to the rendered text: the body is read by its declared type and given to
// the template. Pure and synchronous, the same on the main thread and in a worker (transform.service.ts says which of
// them).
import { isUtf8 } from 'node:buffer'
import { LRUCache } from 'lru-cache'
import { type Template, TemplateError, goTime, parse } from 'gotemplate'
import { isCrowded, maxContainers } from './crowded.pure.ts'
import { type TemplateEnv, templateFunctions } from './template-functions.pure.ts'
import { type CallNames, problemOfName } from './template-names.pure.ts'
import {
  type TemplateWarning,
  maxWarnings,
  warningOf,
  warningOfExponent,
  warningsOfOutput,
} from './template-warnings.pure.ts'
import { XmlProblem, xmlToMap } from './xml-map.pure.ts'

export type RenderOptions = {
  /** Go's own functions too, not only the seven. */
  builtins: boolean
  /** Whether a key that a template reads and the data lacks is an error. */
  missingKey: 'default' | 'error'
  env: TemplateEnv
  maxOutputBytes: number
}

/** What kept a body from being transformed: the body itself, or the template. */
export class TransformProblem extends Error {
  readonly of: 'body' | 'template'
  /** Whether the template did not come to its end because a budget was used up. */
  readonly isExhausted: boolean
  /** The same for readers who may not see the body: nothing of its values. */
  readonly logged: string
  constructor(of: TransformProblem['of'], message: string, { isExhausted = false, logged = message } = {}) {
    super(message)
    this.of = of
    this.isExhausted = isExhausted
    this.logged = logged
  }
}

/** What is rendered, in a form that can be sent to a worker. */
export type RenderTask = {
  template: string
  inputMessageType: string | null
  outputMessageType: string | null
  body: Uint8Array
  names: CallNames
  at: Date
}
export type Previewed = { output: string; warnings: TemplateWarning[] }
/** What a rendering may spend at most. */
type RenderBudget = { steps: number; outputBytes: number }

export const maxTemplateBytes = 65_536
const maxDepth = 32
// Parsed templates take several times the memory of their text.
const maxRememberedLength = 4 * 1_048_576
const goBuiltins = 'and or not eq ne lt le gt ge len index slice print printf println html js urlquery'.split(
  ' ',
)

/** Parses templates, each once, and renders them. */
export function createRenderer({ builtins, missingKey, env, maxOutputBytes }: RenderOptions) {
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
        missingKey,
      })
      remembered.set(text, template)
    }
    return template
  }
  const wholeBudget: RenderBudget = { steps: 100_000, outputBytes: maxOutputBytes }
  const execute = (task: RenderTask, given: RenderBudget, reports?: Parameters<Template['execute']>[2]) => {
    const Data = readBody(task.inputMessageType, task.body)
    ;({ at } = task)
    const Meta = { Timestamp: rfc3339(at), RequestTime: goTime(at) }
    const outputBytes = Math.min(given.outputBytes, maxOutputBytes)
    const budget = { steps: given.steps, outputBytes, depth: maxDepth }
    try {
      return parsed(task.template).execute({ Data, ...task.names, Meta, Env }, budget, reports)
    } catch (error) {
      throw error instanceof TemplateError ? problemOfTemplate(error) : error
    }
  }
  return {
    /** Looks whether a text is a template; throws TemplateError. */
    parse: (text: string): void => void parsed(text),
    /** Looks whether a template reads only names that there are; throws TemplateError. */
    checkNames: (text: string): void => parsed(text).checkFields(problemOfName),

    /** The rendered text; throws TransformProblem. The budget is one for all that the rendering does. */
    render: (task: RenderTask, budget = wholeBudget): string => execute(task, budget),

    /** The same with what is hardly meant so. */
    preview: (task: RenderTask, budget = wholeBudget): Previewed => {
      const found: TemplateWarning[] = []
      const add = (warning: TemplateWarning): void => void (found.length < maxWarnings && found.push(warning))
      const output = execute(task, budget, {
        onMissing: (value) => add(warningOf(value)),
        onExponent: (number) => add(warningOfExponent(number)),
      })
      const ofOutput = warningsOfOutput(task.outputMessageType, output)
      return { output, warnings: [...ofOutput, ...found].slice(0, maxWarnings) }
    },
  }
}

/** Most reasons may quote values of the body; these quote the template at most. */
function problemOfTemplate({ message, phase, line, column, reason, bound, missingKey }: TemplateError) {
  const isSafe = phase === 'parse' || bound !== null || missingKey !== null
  return new TransformProblem('template', `the transformation template failed: ${message}`, {
    isExhausted: phase === 'exec' && bound !== null,
    logged: `the transformation template failed at ${line}:${column}${isSafe ? `: ${reason}` : ''}`,
  })
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

/** A byte order mark is dropped, and what is no UTF-8 becomes U+FFFD. */
const utf8 = new TextDecoder()

/** As Go writes a time in UTC: no fraction of a second. */
const rfc3339 = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`
