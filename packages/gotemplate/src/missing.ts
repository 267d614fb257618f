// Reports results that are valid but probably unintended. The first kind is a missing value that is used:
// written as `<no value>`, or passed to a function as nil. Tests for existence with `if`, `with`, `and` and
// `or` are not reported. The second kind is a number that is written with an exponent, as Go prints a float64
// from 1e6 on.
import { locate } from './errors.ts'
import { type Operand, type PipeNode } from './node.ts'
import { type Value, getEntry, isMap } from './value.ts'

/** The part of a run that `Watch` reads. */
interface Execution {
  readonly position: number
  readonly site: { readonly position: number } | null
  readonly names: readonly number[]
  readonly values: readonly Value[]
  readonly top: number
}

/** A missing value that was used. */
export interface MissingValue {
  /** The expression, up to the first missing key: `.order.id`, `$x`, or the name of a function. */
  readonly name: string
  /** True if the data lacks a key. Otherwise, a value is nil or a function returned no value. */
  readonly isMissingKey: boolean
  /** The function that received the value, or null if the value was written to the output. */
  readonly givenTo: string | null
  readonly line: number
  readonly column: number
}

/** A number that was written with an exponent. */
export interface ExponentNumber {
  readonly value: number
  /** The written text, such as `1e+06`. */
  readonly text: string
  readonly line: number
  readonly column: number
}

/** Callbacks that receive the reports of an execution. Each position is reported once. */
export interface Reports {
  readonly onMissing?: ((missing: MissingValue) => void) | undefined
  readonly onExponent?: ((number: ExponentNumber) => void) | undefined
}

/** Detects and reports results that are probably unintended. */
export class Watch {
  readonly #source: string
  readonly #reports: Reports
  readonly #seenPositions = new Set<number>()
  readonly #seenNumbers = new Set<number>()

  constructor(source: string, reports: Reports) {
    this.#source = source
    this.#reports = reports
  }

  /** Called when an action writes, or a function returns, the text of a number. */
  onNumber({ site, position: around }: Execution, value: number, text: string): void {
    const position = site?.position ?? around
    if (!text.includes('e') || this.#seenNumbers.has(position)) return
    this.#seenNumbers.add(position)
    const { line, column } = locate(this.#source, position)
    this.#reports.onExponent?.({ value, text, line, column })
  }

  /** Called when an action writes `<no value>`. */
  onWritten(run: Execution, dot: Value, pipe: PipeNode): void {
    const operand = findValueOperand(pipe)
    if (this.#seenPositions.has(operand.position)) return
    const missingKey = findMissingKey(run, dot, operand)
    this.#add(operand, {
      name: missingKey ?? formatOperand(operand),
      isMissingKey: missingKey !== null,
      givenTo: null,
    })
  }

  /** Called when a function receives nil. A nil that is part of the data is not reported. */
  onPassed(run: Execution, dot: Value, argument: Operand, givenTo: string): void {
    const operand = argument.kind === 'pipe' ? findValueOperand(argument) : argument
    if (this.#seenPositions.has(operand.position)) return
    const name = findMissingKey(run, dot, operand)
    if (name !== null) this.#add(operand, { name, isMissingKey: true, givenTo })
  }

  #add({ position }: Operand, missing: Omit<MissingValue, 'line' | 'column'>): void {
    this.#seenPositions.add(position)
    const { line, column } = locate(this.#source, position)
    this.#reports.onMissing?.({ ...missing, line, column })
  }
}

/**
 * Returns the operand that determines the value of a pipeline: the head of its last stage, inside any
 * parentheses.
 */
function findValueOperand(pipe: PipeNode): Operand {
  let { head } = pipe.rest.at(-1) ?? pipe.first
  while (head.kind === 'pipe') ({ head } = head.rest.at(-1) ?? head.first)
  return head
}

/** Returns the expression up to the first missing key, or null if no key is missing. */
function findMissingKey(run: Execution, dot: Value, operand: Operand): string | null {
  if (operand.kind !== 'field' && operand.kind !== 'variable') return null
  const isField = operand.kind === 'field'
  // The lookup is repeated here, because observing must not consume the budget.
  let value = isField ? dot : run.values[run.names.lastIndexOf(operand.number, run.top - 1)]
  let name = isField ? '' : operand.name
  for (const key of operand.names) {
    name += `.${key}`
    if (value !== undefined && !isMap(value)) return null
    value = value && getEntry(value, key)
    if (value === undefined) return name
  }
  return null
}

function formatOperand(operand: Operand): string {
  switch (operand.kind) {
    case 'field':
      return `.${operand.names.join('.')}`
    case 'variable':
      return [operand.name, ...operand.names].join('.')
    case 'chain':
      return `(…).${operand.names.join('.')}`
    case 'function':
      return operand.name
    case 'dot':
    case 'pipe':
    case 'nil':
    case 'bool':
    case 'string':
    case 'number':
      return '.'
  }
}
