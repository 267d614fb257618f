// Finds the data fields that a template reads, without executing it. The search skips every position where the dot
// may be anything other than the data.
import { type Command, type ListNode, type Operand, type PipeNode, type Statement } from './node.ts'
import { type Definitions } from './parse.ts'

/** A chain of fields that starts at the root of the data. */
interface RootField {
  readonly names: readonly string[]
  readonly position: number
}

/** Returns the field chains that the template with this name reads from the data, in source order. */
export function findRootFields(definitions: Definitions, name: string): readonly RootField[] {
  const search = new Search(name)
  for (const [definedName, { list }] of definitions)
    search.searchList(list, definedName === name ? 'data' : 'unknown')
  return search.getFields()
}

/** The value that the dot refers to. In a template that other templates call, the dot and `$` are unknown. */
type Dot = 'data' | 'other' | 'unknown'

class Search {
  readonly #name: string
  readonly #dotFields: RootField[] = []
  readonly #dollarFields: RootField[] = []
  #isCalled = false
  #isDollarSet = false

  constructor(name: string) {
    this.#name = name
  }

  /** Returns no fields for a template that other templates call, because its dot may be any value. */
  getFields(): readonly RootField[] {
    if (this.#isCalled) return []
    const fields = this.#isDollarSet ? this.#dotFields : [...this.#dotFields, ...this.#dollarFields]
    return fields.toSorted((a, b) => a.position - b.position)
  }

  searchList({ statements }: ListNode, dot: Dot): void {
    for (const statement of statements) this.#visitStatement(statement, dot)
  }

  #visitStatement(statement: Statement, dot: Dot): void {
    switch (statement.kind) {
      case 'pipe':
        return this.#visitPipe(statement, dot)
      case 'if':
      case 'with':
        for (const { pipe, list } of statement.branches) {
          this.#visitPipe(pipe, dot)
          this.searchList(list, statement.kind === 'if' ? dot : changeDot(dot))
        }
        return this.#visitElse(statement.elseList, dot)
      case 'range':
        this.#visitPipe(statement.pipe, dot)
        this.searchList(statement.list, changeDot(dot))
        return this.#visitElse(statement.elseList, dot)
      case 'template':
        if (statement.name === this.#name) this.#isCalled = true
        if (statement.pipe !== null) this.#visitPipe(statement.pipe, dot)
        return
      case 'text':
      case 'break':
      case 'continue':
    }
  }

  #visitElse(list: ListNode | null, dot: Dot): void {
    if (list !== null) this.searchList(list, dot)
  }

  #visitPipe({ variables, first, rest }: PipeNode, dot: Dot): void {
    if (dot !== 'unknown' && variables.some(({ name }) => name === '$')) this.#isDollarSet = true
    for (const command of [first, ...rest]) this.#visitCommand(command, dot)
  }

  #visitCommand({ head, args }: Command, dot: Dot): void {
    this.#visitOperand(head, dot)
    for (const operand of args) this.#visitOperand(operand, dot)
  }

  #visitOperand(operand: Operand, dot: Dot): void {
    if (operand.kind === 'pipe') this.#visitPipe(operand, dot)
    else if (operand.kind === 'chain') this.#visitOperand(operand.base, dot)
    else if (operand.kind === 'field' && dot === 'data') this.#dotFields.push(operand)
    else if (operand.kind === 'variable' && operand.name === '$' && operand.names.length > 0)
      if (dot !== 'unknown') this.#dollarFields.push(operand)
  }
}

const changeDot = (dot: Dot): Dot => (dot === 'data' ? 'other' : dot)
