// Finds fields of the data without executing the template. It considers only positions where the dot is certainly the
// data that the template is executed with.
import { type Command, type ListNode, type Operand, type PipeNode, type Statement } from './node.ts'
import { type Definitions } from './parse.ts'

/** A chain of fields that starts at the data. */
interface RootField {
  readonly names: readonly string[]
  readonly position: number
}

/** Returns the field chains of the data in the template of this name, in source order. */
export function rootFields(definitions: Definitions, name: string): readonly RootField[] {
  const search = new Search(name)
  for (const [known, { list }] of definitions) search.list(list, known === name ? 'data' : 'unknown')
  return search.result()
}

/** The meaning of the dot. In a template that others call, the dot and `$` are unknown. */
type Dot = 'data' | 'other' | 'unknown'

class Search {
  readonly #name: string
  readonly #ofDot: RootField[] = []
  readonly #ofDollar: RootField[] = []
  #isCalled = false
  #isDollarSet = false

  constructor(name: string) {
    this.#name = name
  }

  /** Returns nothing for a template that is called, because its dot may be any value. */
  result(): readonly RootField[] {
    if (this.#isCalled) return []
    const found = this.#isDollarSet ? this.#ofDot : [...this.#ofDot, ...this.#ofDollar]
    return found.toSorted((a, b) => a.position - b.position)
  }

  list({ statements }: ListNode, dot: Dot): void {
    for (const statement of statements) this.#statement(statement, dot)
  }

  #statement(statement: Statement, dot: Dot): void {
    switch (statement.kind) {
      case 'pipe':
        return this.#pipe(statement, dot)
      case 'if':
      case 'with':
        for (const { pipe, list } of statement.branches) {
          this.#pipe(pipe, dot)
          this.list(list, statement.kind === 'if' ? dot : changed(dot))
        }
        return this.#otherwise(statement.otherwise, dot)
      case 'range':
        this.#pipe(statement.pipe, dot)
        this.list(statement.list, changed(dot))
        return this.#otherwise(statement.otherwise, dot)
      case 'template':
        if (statement.name === this.#name) this.#isCalled = true
        if (statement.pipe !== null) this.#pipe(statement.pipe, dot)
        return
      case 'text':
      case 'break':
      case 'continue':
    }
  }

  #otherwise(list: ListNode | null, dot: Dot): void {
    if (list !== null) this.list(list, dot)
  }

  #pipe({ variables, first, rest }: PipeNode, dot: Dot): void {
    if (dot !== 'unknown' && variables.some(({ name }) => name === '$')) this.#isDollarSet = true
    for (const command of [first, ...rest]) this.#command(command, dot)
  }

  #command({ head, args }: Command, dot: Dot): void {
    this.#operand(head, dot)
    for (const operand of args) this.#operand(operand, dot)
  }

  #operand(operand: Operand, dot: Dot): void {
    if (operand.kind === 'pipe') this.#pipe(operand, dot)
    else if (operand.kind === 'chain') this.#operand(operand.base, dot)
    else if (operand.kind === 'field' && dot === 'data') this.#ofDot.push(operand)
    else if (operand.kind === 'variable' && operand.name === '$' && operand.names.length > 0)
      if (dot !== 'unknown') this.#ofDollar.push(operand)
  }
}

const changed = (dot: Dot): Dot => (dot === 'data' ? 'other' : dot)
