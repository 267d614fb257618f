// What is no error and yet hardly meant. First, what has no value and is used nevertheless: written as `<no value>`, or given
// to a function as nil. Asking whether something is there, as `if`, `with`, `and` and `or` do, is no such use. Second,
// numbers that are written with an exponent, as Go prints a float64 from 1e6 on.
import { locate } from './errors.ts'
import { type Operand, type PipeNode } from './node.ts'
import { type Value, entry, isMap } from './value.ts'

/** What is looked at of an execution. */
interface Execution {
  readonly position: number
  readonly site: { readonly position: number } | null
  readonly names: readonly number[]
  readonly values: readonly Value[]
  readonly top: number
}

/** Something without a value that was used. */
export interface MissingValue {
  /** What has none, up to the first key that the data lacks: `.order.id`, `$x`, or the name of a function. */
  readonly name: string
  /** Whether the data lacks a key; otherwise something is nil, or a function returned nothing. */
  readonly isMissingKey: boolean
  /** The function that it was given to; null when it was written. */
  readonly givenTo: string | null
  readonly line: number
  readonly column: number
}

/** A number that was written with an exponent. */
export interface ExponentNumber {
  readonly value: number
  /** As it was written, such as `1e+06`. */
  readonly text: string
  readonly line: number
  readonly column: number
}

/** What is told of an execution, of each place once. */
export interface Reports {
  readonly onMissing?: ((missing: MissingValue) => void) | undefined
  readonly onExponent?: ((number: ExponentNumber) => void) | undefined
}

/** Reports what is hardly meant. */
export class Watch {
  readonly #source: string
  readonly #reports: Reports
  readonly #seen = new Set<number>()
  readonly #seenNumbers = new Set<number>()

  constructor(source: string, reports: Reports) {
    this.#source = source
    this.#reports = reports
  }

  /** The text of a number is written, or returned by a function. */
  number({ site, position: around }: Execution, value: number, text: string): void {
    const position = site?.position ?? around
    if (!text.includes('e') || this.#seenNumbers.has(position)) return
    this.#seenNumbers.add(position)
    const { line, column } = locate(this.#source, position)
    this.#reports.onExponent?.({ value, text, line, column })
  }

  /** An action wrote `<no value>`. */
  written(run: Execution, dot: Value, pipe: PipeNode): void {
    const operand = valueOf(pipe)
    if (this.#seen.has(operand.position)) return
    const lacking = lackingKey(run, dot, operand)
    this.#add(operand, { name: lacking ?? nameOf(operand), isMissingKey: lacking !== null, givenTo: null })
  }

  /** A function was given nil; what is nil in the data is a value like any other there. */
  given(run: Execution, dot: Value, argument: Operand, givenTo: string): void {
    const operand = argument.kind === 'pipe' ? valueOf(argument) : argument
    if (this.#seen.has(operand.position)) return
    const name = lackingKey(run, dot, operand)
    if (name !== null) this.#add(operand, { name, isMissingKey: true, givenTo })
  }

  #add({ position }: Operand, missing: Omit<MissingValue, 'line' | 'column'>): void {
    this.#seen.add(position)
    const { line, column } = locate(this.#source, position)
    this.#reports.onMissing?.({ ...missing, line, column })
  }
}

/** What the value of a pipeline comes from: the head of its last stage, in however many parentheses. */
function valueOf(pipe: PipeNode): Operand {
  let { head } = pipe.rest.at(-1) ?? pipe.first
  while (head.kind === 'pipe') ({ head } = head.rest.at(-1) ?? head.first)
  return head
}

/** The name as it is written, up to the first key that the data lacks; null when it lacks none. */
function lackingKey(run: Execution, dot: Value, operand: Operand): string | null {
  if (operand.kind !== 'field' && operand.kind !== 'variable') return null
  const isField = operand.kind === 'field'
  // Looked up here, because what only watches must not spend anything.
  let value = isField ? dot : run.values[run.names.lastIndexOf(operand.number, run.top - 1)]
  let name = isField ? '' : operand.name
  for (const key of operand.names) {
    name += `.${key}`
    if (value !== undefined && !isMap(value)) return null
    value = value && entry(value, key)
    if (value === undefined) return name
  }
  return null
}

function nameOf(operand: Operand): string {
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
