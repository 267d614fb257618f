// Implements range loops and control flow. Statements return a Flow, so break and continue need no
// exceptions.
import { fail } from './errors.ts'
import { type RangeNode } from './node.ts'
import { type Run } from './run.ts'
import { type Entries, Int, type Value, getElement, getEntry, isList, isMap, getTypeName } from './value.ts'

export const NEXT = 0
export const BREAK = 1
export const CONTINUE = 2
export type Flow = typeof NEXT | typeof BREAK | typeof CONTINUE

/** Executes a compiled statement or list of statements. */
export type Execute = (run: Run, dot: Value) => Flow

/** A compiled list of statements. Its cost is charged before each execution. */
export interface Block {
  readonly execute: Execute
  readonly weight: number
}

/** Charges the cost of a block and executes it. */
export function executeBlock(block: Block, run: Run, dot: Value): Flow {
  run.chargeSteps(block.weight)
  return block.execute(run, dot)
}

/** A range with its body. */
export class Loop {
  readonly #node: RangeNode
  readonly #body: Block
  readonly #variableCount: number

  constructor(node: RangeNode, body: Block) {
    this.#node = node
    this.#body = body
    this.#variableCount = node.pipe.variables.length
  }

  /** Executes the body for each element. Returns whether there was at least one element. */
  iterateOver(value: Value, run: Run): boolean {
    if (isList(value)) return this.#iterateOverList(value, run)
    if (typeof value === 'bigint') return this.#iterateOverInteger(value, run, (index) => index)
    if (value instanceof Int)
      return this.#iterateOverInteger(value.value, run, (index) => new Int(value.type, index))
    if (isMap(value)) return this.#iterateOverMap(value, run)
    if (value === undefined) return false
    return fail(`range can't iterate over a value of type ${getTypeName(value)}`, this.#node.position)
  }

  #iterateOverList(list: readonly unknown[], run: Run): boolean {
    const { length } = list
    for (let i = 0; i < length; i++) {
      if (!this.#executeBody(run, this.#variableCount > 1 ? BigInt(i) : undefined, getElement(list, i))) break
    }
    return length > 0
  }

  #iterateOverMap(map: Entries, run: Run): boolean {
    const keys = run.listKeys(map)
    for (const key of keys) if (!this.#executeBody(run, key, getEntry(map, key))) break
    return keys.length > 0
  }

  #iterateOverInteger(count: bigint, run: Run, toElement: (index: bigint) => Value): boolean {
    if (this.#variableCount > 1)
      fail(`can't use ${count} to iterate over more than one variable`, this.#node.position)
    for (let i = 0n; i < count; i++) if (!this.#executeBody(run, undefined, toElement(i))) break
    return count > 0n
  }

  /** Executes the body for one element. Returns whether the loop continues. */
  #executeBody(run: Run, index: Value, value: Value): boolean {
    // The range variables were declared last, so they are directly below the top.
    const { top } = run
    if (this.#variableCount > 0) {
      if (this.#node.pipe.assigns) this.#assign(run, index, value)
      else {
        run.values[top - 1] = value
        if (this.#variableCount > 1) run.values[top - 2] = index
      }
    }
    const flow = executeBlock(this.#body, run, value)
    run.top = top
    return flow !== BREAK
  }

  #assign(run: Run, index: Value, value: Value): void {
    const { variables } = this.#node.pipe
    variables.forEach(({ name, number }, position) => {
      run.values[run.findVariableIndex(number, name)] = position === variables.length - 1 ? value : index
    })
  }
}
