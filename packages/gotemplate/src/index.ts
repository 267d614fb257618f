// Go's text/template. Everything that a host needs is exported here.
import { Failure, MissingKeyFailure, TemplateError, fail } from './errors.ts'
import { Program } from './exec.ts'
import { findRootFields } from './fields.ts'
import { type FunctionEntry, type FunctionTable, builtins } from './funcs.ts'
import { type TemplateFunction, createHostFunction } from './host.ts'
import { type MissingValue, type Reports, Watch } from './missing.ts'
import { type Definitions, parseDefinitions } from './parse.ts'
import { type Limits } from './pipeline.ts'
import { type Budget, Run, defaultBudget } from './run.ts'
import { toPublicText } from './utf8.ts'
import { convertHostValue } from './value.ts'

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
  /** The Go builtins to enable: all (`true`), none (`false`), or the builtins listed here. */
  readonly builtins?: boolean | readonly string[]
  /**
   * Returns text to append to the error for an unknown function. `isBuiltin` tells whether Go has a builtin
   * with this name.
   */
  readonly hint?: (name: string, isBuiltin: boolean) => string
  readonly limits?: Partial<Limits>
  /**
   * The result of reading a missing key: no value, or a failure with `error`. This is Go's `missingkey`
   * option.
   */
  readonly missingKey?: 'default' | 'error'
}

const defaultLimits: Limits = { length: 1_048_576, nesting: 200, nodes: 50_000 }

/** A parsed template. It has no state and can be executed any number of times. */
export interface Template {
  readonly name: string
  /**
   * Renders the template with this data, which must not change during the execution. Throws a TemplateError. Budgets
   * that are not set have default values. `onMissing` reports missing values that are written or passed to a parameter
   * of type any. `onExponent` reports numbers that are written with an exponent. Each position is reported once.
   * Passing a function instead of an object sets `onMissing`.
   */
  execute(
    data: unknown,
    budget?: Partial<Budget>,
    reports?: Reports | ((missing: MissingValue) => void),
  ): string
  /**
   * Throws a TemplateError for the first field of the data that `findProblem` rejects. `findProblem` receives the
   * field `.a.b` as `['a', 'b']`. Fields are not checked where `with`, `range` or `template` has changed the dot.
   */
  checkFields(findProblem: (names: readonly string[]) => string | null): void
}

/** Parses a template. Throws a TemplateError if the text is not a valid template. */
export function parse(text: string, options: ParseOptions = {}): Template {
  const name = options.name ?? 'template'
  const source = text.toWellFormed()
  const functions = createFunctionTable(options)
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
    throw createParseError(name, source, error)
  }
}

function createParseError(name: string, source: string, error: unknown): TemplateError {
  const failure = toFailure(error)
  return new TemplateError({
    phase: 'parse',
    name,
    source,
    position: failure.position ?? 0,
    reason: failure.message,
    bound: failure.bound,
    missingKey: null,
    output: '',
    cause: failure === error ? undefined : error,
  })
}

function createFunctionTable({ builtins: enabledBuiltins = true, functions }: ParseOptions): FunctionTable {
  if (enabledBuiltins === true && functions === undefined) return builtins
  const names =
    enabledBuiltins === true ? [...builtins.keys()] : enabledBuiltins === false ? [] : enabledBuiltins
  const table = new Map<string, FunctionEntry>()
  for (const name of names) {
    const entry = builtins.get(name)
    if (entry !== undefined) table.set(name, entry)
  }
  for (const [name, host] of Object.entries(functions ?? {})) table.set(name, createHostFunction(name, host))
  return table
}

interface TemplateParts extends Pick<ParseOptions, 'missingKey'> {
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

  constructor({ name, source, definitions, functions, missingKey }: TemplateParts) {
    this.name = name
    this.#source = source
    this.#definitions = definitions
    this.#program = new Program(definitions, functions)
    this.#failsWithoutKey = missingKey === 'error'
  }

  checkFields(findProblem: (names: readonly string[]) => string | null): void {
    for (const { names, position } of findRootFields(this.#definitions, this.name)) {
      const problem = findProblem(names)
      if (problem !== null) throw createParseError(this.name, this.#source, new Failure(problem, position))
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
      this.#program.execute(this.name, run, convertHostValue(data) ?? undefined)
      return toPublicText(run.output)
    } catch (error) {
      throw this.#asTemplateError(error, run)
    }
  }

  #asTemplateError(error: unknown, run: Run): TemplateError {
    const failure = toFailure(error)
    const callPrefix = run.site !== null && failure.bound === null ? `error calling ${run.site.name}: ` : ''
    return new TemplateError({
      phase: 'exec',
      name: this.name,
      source: this.#source,
      position: failure.position ?? run.site?.position ?? run.position,
      reason: callPrefix + failure.message,
      bound: failure.bound,
      missingKey: failure instanceof MissingKeyFailure ? failure.key : null,
      output: toPublicText(run.output),
      cause: failure === error ? undefined : error,
    })
  }
}

/**
 * Converts a thrown value to a Failure. The value may be an error from a host function or a stack overflow.
 */
function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (!(error instanceof Error)) return new Failure('a function threw a value that is not an Error')
  const isStackOverflow = /call stack|recursion/i.test(error.message)
  return isStackOverflow ? new Failure('the stack is exhausted', null, 'depth') : new Failure(error.message)
}
