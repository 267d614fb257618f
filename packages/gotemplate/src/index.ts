// Go's text/template. Everything a host needs is exported here.
import { Failure, MissingKey, TemplateError, fail } from './errors.ts'
import { Program } from './exec.ts'
import { rootFields } from './fields.ts'
import { type FunctionEntry, type FunctionTable, builtins } from './funcs.ts'
import { type TemplateFunction, hostFunction } from './host.ts'
import { type MissingValue, type Reports, Watch } from './missing.ts'
import { type Definitions, parseDefinitions } from './parse.ts'
import { type Limits } from './pipeline.ts'
import { type Budget, Run, defaultBudget } from './run.ts'
import { publicText } from './utf8.ts'
import { adopt } from './value.ts'

export { TemplateError } from './errors.ts'
export { type TemplateFunction } from './host.ts'
export { type ExponentNumber, type MissingValue } from './missing.ts'
export { goTime } from './time.ts'

/** The options of `parse`. */
interface ParseOptions {
  /** The name of the template, in messages and for `{{template}}`. */
  readonly name?: string
  /** The host's functions by name. */
  readonly functions?: Readonly<Record<string, TemplateFunction>>
  /** The enabled builtins of Go: all, none, or those named here. */
  readonly builtins?: boolean | readonly string[]
  /** Returns text to add to the error for an unknown function. `isBuiltin` tells whether Go has it. */
  readonly hint?: (name: string, isBuiltin: boolean) => string
  readonly limits?: Partial<Limits>
  /** The result of reading a missing key: no value, or a failure with `error`, like the `missingkey` option of Go. */
  readonly missingKey?: 'default' | 'error'
}

const defaultLimits: Limits = { length: 1_048_576, nesting: 200, nodes: 50_000 }

/** A parsed template. It has no state and can be executed any number of times. */
export interface Template {
  readonly name: string
  /**
   * Renders the template with this data, which must not change during the execution. Throws a TemplateError. Omitted
   * budgets have their defaults. `onMissing` reports missing values that are written or passed to a parameter of type
   * any. `onExponent` reports numbers that are written with an exponent. Each position is reported once. A function
   * instead of an object is `onMissing`.
   */
  execute(
    data: unknown,
    budget?: Partial<Budget>,
    reports?: Reports | ((missing: MissingValue) => void),
  ): string
  /**
   * Throws a TemplateError for the first field of the data that `problemOf` rejects: `.a.b` is passed as `['a', 'b']`.
   * Fields of a dot that a `with`, a `range` or a `template` set are not checked.
   */
  checkFields(problemOf: (names: readonly string[]) => string | null): void
}

/** Parses a template. Throws a TemplateError if the text is not a valid template. */
export function parse(text: string, options: ParseOptions = {}): Template {
  const name = options.name ?? 'template'
  const source = text.toWellFormed()
  const functions = functionTable(options)
  try {
    const definitions = parseDefinitions(source, name, {
      limits: options.limits === undefined ? defaultLimits : { ...defaultLimits, ...options.limits },
      checkFunction: (word, position) => {
        if (functions.has(word)) return
        const hint = options.hint?.(word, builtins.has(word)) ?? ''
        fail(`function "${word}" not defined${hint === '' ? '' : `; ${hint}`}`, position)
      },
    })
    return new ParsedTemplate({ name, source, definitions, functions, missingKey: options.missingKey })
  } catch (error) {
    throw parseError(name, source, error)
  }
}

function parseError(name: string, source: string, error: unknown): TemplateError {
  const known = asFailure(error)
  return new TemplateError({
    phase: 'parse',
    name,
    source,
    position: known.position ?? 0,
    reason: known.message,
    bound: known.bound,
    missingKey: null,
    output: '',
    cause: known === error ? undefined : error,
  })
}

function functionTable({ builtins: enabled = true, functions }: ParseOptions): FunctionTable {
  if (enabled === true && functions === undefined) return builtins
  const names = enabled === true ? [...builtins.keys()] : enabled === false ? [] : enabled
  const table = new Map<string, FunctionEntry>()
  for (const name of names) {
    const entry = builtins.get(name)
    if (entry !== undefined) table.set(name, entry)
  }
  for (const [name, host] of Object.entries(functions ?? {})) table.set(name, hostFunction(name, host))
  return table
}

interface Parts extends Pick<ParseOptions, 'missingKey'> {
  readonly name: string
  readonly source: string
  readonly definitions: Definitions
  readonly functions: FunctionTable
}

class ParsedTemplate implements Template {
  readonly name: string
  readonly #source: string
  readonly #definitions: Definitions
  readonly #program: Program
  readonly #failsWithoutKey: boolean

  constructor({ name, source, definitions, functions, missingKey }: Parts) {
    this.name = name
    this.#source = source
    this.#definitions = definitions
    this.#program = new Program(definitions, functions)
    this.#failsWithoutKey = missingKey === 'error'
  }

  checkFields(problemOf: (names: readonly string[]) => string | null): void {
    for (const { names, position } of rootFields(this.#definitions, this.name)) {
      const problem = problemOf(names)
      if (problem !== null) throw parseError(this.name, this.#source, new Failure(problem, position))
    }
  }

  execute(
    data: unknown,
    budget?: Partial<Budget>,
    reports?: Reports | ((missing: MissingValue) => void),
  ): string {
    const callbacks = typeof reports === 'function' ? { onMissing: reports } : reports
    const watch = callbacks === undefined ? null : new Watch(this.#source, callbacks)
    const limits = budget === undefined ? defaultBudget : { ...defaultBudget, ...budget }
    const run = new Run(limits, this.#failsWithoutKey, watch)
    try {
      this.#program.execute(this.name, run, adopt(data) ?? undefined)
      return publicText(run.output)
    } catch (error) {
      throw this.#asTemplateError(error, run)
    }
  }

  #asTemplateError(error: unknown, run: Run): TemplateError {
    const known = asFailure(error)
    const calling = run.site !== null && known.bound === null ? `error calling ${run.site.name}: ` : ''
    return new TemplateError({
      phase: 'exec',
      name: this.name,
      source: this.#source,
      position: known.position ?? run.site?.position ?? run.position,
      reason: calling + known.message,
      bound: known.bound,
      missingKey: known instanceof MissingKey ? known.key : null,
      output: publicText(run.output),
      cause: known === error ? undefined : error,
    })
  }
}

/** Converts a thrown value to a Failure. This includes errors of host functions and an exhausted stack. */
function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (!(error instanceof Error)) return new Failure('a function threw a value that is not an Error')
  const isStack = /call stack|recursion/i.test(error.message)
  return isStack ? new Failure('the stack is exhausted', null, 'depth') : new Failure(error.message)
}
