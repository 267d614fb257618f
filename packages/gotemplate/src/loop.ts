// Range loops and control flow. Statements return a Flow, so break and continue need no exceptions.
import { fail } from './errors.ts'
import { type RangeNode } from './node.ts'
import { type Run } from './run.ts'
import { type Entries, Int, type Value, element, entry, isList, isMap, typeName } from './value.ts'

export const NEXT = 0
export const BREAK = 1
export const CONTINUE = 2
export type Flow = typeof NEXT | typeof BREAK | typeof CONTINUE

/** A statement, or a list of them, ready to be executed. */
export type Execute = (run: Run, dot: Value) => Flow

/** A list of statements and its cost, which is charged before it is executed. */
export interface Block {
  readonly execute: Execute
  readonly weight: number
}

/** Charges the cost of a block and executes it. */
export function executeBlock(block: Block, run: Run, dot: Value): Flow {
  run.step(block.weight)
  return block.execute(run, dot)
}

/** A range with its body. */
export class Loop {
  readonly #node: RangeNode
  readonly #body: Block
  readonly #variables: number

  constructor(node: RangeNode, body: Block) {
    this.#node = node
    this.#body = body
    this.#variables = node.pipe.variables.length
  }

  /** Executes the body for each element. Returns whether there was an element. */
  over(value: Value, run: Run): boolean {
    if (isList(value)) return this.#overList(value, run)
    if (typeof value === 'bigint') return this.#overInteger(value, run, (index) => index)
    if (value instanceof Int)
      return this.#overInteger(value.value, run, (index) => new Int(value.type, index))
    if (isMap(value)) return this.#overMap(value, run)
    if (value === undefined) return false
    return fail(`range can't iterate over a value of type ${typeName(value)}`, this.#node.position)
  }

  #overList(list: readonly unknown[], run: Run): boolean {
    const { length } = list
    for (let i = 0; i < length; i++) {
      if (!this.#pass(run, this.#variables > 1 ? BigInt(i) : undefined, element(list, i))) break
    }
    return length > 0
  }

  #overMap(map: Entries, run: Run): boolean {
    const keys = run.keys(map)
    for (const key of keys) if (!this.#pass(run, key, entry(map, key))) break
    return keys.length > 0
  }

  #overInteger(count: bigint, run: Run, toElement: (index: bigint) => Value): boolean {
    if (this.#variables > 1)
      fail(`can't use ${count} to iterate over more than one variable`, this.#node.position)
    for (let i = 0n; i < count; i++) if (!this.#pass(run, undefined, toElement(i))) break
    return count > 0n
  }

  /** Executes the body once. Returns whether the loop continues. */
  #pass(run: Run, index: Value, value: Value): boolean {
    // The variables of the range were declared last, so they are right below the top.
    const { top } = run
    if (this.#variables > 0) {
      if (this.#node.pipe.assigns) this.#assign(run, index, value)
      else {
        run.values[top - 1] = value
        if (this.#variables > 1) run.values[top - 2] = index
      }
    }
    const flow = executeBlock(this.#body, run, value)
    run.top = top
    return flow !== BREAK
  }

  #assign(run: Run, index: Value, value: Value): void {
    const { variables } = this.#node.pipe
    variables.forEach(({ name, number }, position) => {
      run.values[run.indexOfVariable(number, name)] = position === variables.length - 1 ? value : index
    })
  }
}
