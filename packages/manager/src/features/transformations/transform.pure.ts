// Transforms the bytes of a body to the rendered text. The body is parsed according to its declared type and passed to
// the template. The code is synchronous and identical on the main thread and in workers. transform.service.ts chooses
// where it runs.
import { isUtf8 } from 'node:buffer'
import { LRUCache } from 'lru-cache'
import { type Template, TemplateError, goTime, parse } from 'gotemplate'
import { hasTooManyContainers, maxContainers } from './container-limit.pure.ts'
import { type TemplateEnv, createTemplateFunctions } from './template-functions.pure.ts'
import { type CallNames, findNameProblem } from './template-names.pure.ts'
import {
  type TemplateWarning,
  maxWarnings,
  createMissingValueWarning,
  createExponentWarning,
  findOutputWarnings,
} from './template-warnings.pure.ts'
import { XmlProblem, convertXmlToMap } from './xml-map.pure.ts'

export type RenderOptions = {
  /** Permits Go's built-in functions in addition to the seven ESB functions. */
  builtins: boolean
  /** Whether a template fails if it reads a key that the data lacks. */
  missingKey: 'default' | 'error'
  env: TemplateEnv
  maxOutputBytes: number
}

/** Thrown if a body cannot be transformed because of the body or the template. */
export class TransformProblem extends Error {
  readonly source: 'body' | 'template'
  /** Whether the template exhausted its budget. */
  readonly isExhausted: boolean
  /** Message without values of the body, for readers who may not see them. */
  readonly logged: string
  constructor(
    of: TransformProblem['source'],
    message: string,
    { isExhausted = false, logged = message } = {},
  ) {
    super(message)
    this.source = of
    this.isExhausted = isExhausted
    this.logged = logged
  }
}

/** Input of a rendering, in a form that can be sent to a worker. */
export type RenderTask = {
  template: string
  inputMessageType: string | null
  outputMessageType: string | null
  body: Uint8Array
  names: CallNames
  at: Date
}
export type Preview = { output: string; warnings: TemplateWarning[] }
/** Limits of a rendering. */
type RenderBudget = { steps: number; outputBytes: number }

export const maxTemplateBytes = 65_536
const maxDepth = 32
// Limit for cached template text. Parsed templates use several times the memory of their text.
const maxCachedLength = 4 * 1_048_576
const goBuiltins = 'and or not eq ne lt le gt ge len index slice print printf println html js urlquery'.split(
  ' ',
)

/** Parses templates with a cache, and renders them. */
export function createRenderer({ builtins, missingKey, env, maxOutputBytes }: RenderOptions) {
  let at = new Date()
  const functions = createTemplateFunctions(env, () => formatRfc3339(at))
  const Env = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))
  const templateCache = new LRUCache<string, Template>({
    maxSize: maxCachedLength,
    sizeCalculation: (_template, text) => text.length + 1,
  })
  const parseCached = (text: string): Template => {
    let template = templateCache.get(text)
    if (template === undefined) {
      template = parse(text, {
        functions,
        builtins: builtins ? goBuiltins : false,
        hint: (_name, isBuiltin) => (isBuiltin ? 'set esb.template_builtins to enable Go functions' : ''),
        limits: { length: maxTemplateBytes },
        missingKey,
      })
      templateCache.set(text, template)
    }
    return template
  }
  const fullBudget: RenderBudget = { steps: 100_000, outputBytes: maxOutputBytes }
  const execute = (task: RenderTask, limits: RenderBudget, reports?: Parameters<Template['execute']>[2]) => {
    const Data = readBody(task.inputMessageType, task.body)
    ;({ at } = task)
    const Meta = { Timestamp: formatRfc3339(at), RequestTime: goTime(at) }
    const outputBytes = Math.min(limits.outputBytes, maxOutputBytes)
    const budget = { steps: limits.steps, outputBytes, depth: maxDepth }
    try {
      return parseCached(task.template).execute({ Data, ...task.names, Meta, Env }, budget, reports)
    } catch (error) {
      throw error instanceof TemplateError ? toTransformProblem(error) : error
    }
  }
  return {
    /** Throws TemplateError if the text is not a template. */
    parse: (text: string): void => void parseCached(text),
    /** Throws TemplateError if the template reads an unknown name. */
    checkNames: (text: string): void => parseCached(text).checkFields(findNameProblem),

    /** Returns the rendered text. Throws TransformProblem. The budget covers parsing and rendering. */
    render: (task: RenderTask, budget = fullBudget): string => execute(task, budget),

    /** Works like `render`, but also returns warnings about probable mistakes. */
    preview: (task: RenderTask, budget = fullBudget): Preview => {
      const warnings: TemplateWarning[] = []
      const addWarning = (warning: TemplateWarning): void =>
        void (warnings.length < maxWarnings && warnings.push(warning))
      const output = execute(task, budget, {
        onMissing: (value) => addWarning(createMissingValueWarning(value)),
        onExponent: (number) => addWarning(createExponentWarning(number)),
      })
      const outputWarnings = findOutputWarnings(task.outputMessageType, output)
      return { output, warnings: [...outputWarnings, ...warnings].slice(0, maxWarnings) }
    },
  }
}

/** Converts a template error. Most reasons can quote values of the body. Logged reasons quote at most the template. */
function toTransformProblem({ message, phase, line, column, reason, bound, missingKey }: TemplateError) {
  const isSafe = phase === 'parse' || bound !== null || missingKey !== null
  return new TransformProblem('template', `the transformation template failed: ${message}`, {
    isExhausted: phase === 'exec' && bound !== null,
    logged: `the transformation template failed at ${line}:${column}${isSafe ? `: ${reason}` : ''}`,
  })
}

function readBody(type: string | null, bytes: Uint8Array): unknown {
  const rejectBody = (reason = ''): never => {
    throw new TransformProblem('body', `the body is not ${type} as the endpoint expects${reason}`)
  }
  if (type !== null && !isUtf8(bytes)) rejectBody(': it is not UTF-8')
  const text = utf8Decoder.decode(bytes)
  if (type === 'XML' || type === 'SOAP')
    try {
      return convertXmlToMap(text)
    } catch (error) {
      if (error instanceof XmlProblem) return rejectBody(`: ${error.message}`)
      throw error
    }
  if (hasTooManyContainers(bytes))
    throw new TransformProblem('body', `the body has more than ${maxContainers} lists and objects`)
  try {
    return JSON.parse(text) as unknown
  } catch {
    return type === 'JSON' ? rejectBody() : { Body: text }
  }
}

/** Drops a byte order mark and replaces invalid UTF-8 with U+FFFD. */
const utf8Decoder = new TextDecoder()

/** Formats a time like Go in UTC, without fractions of a second. */
const formatRfc3339 = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`
