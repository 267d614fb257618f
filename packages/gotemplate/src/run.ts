// One execution: its budget, output and variables. All costs are charged here in advance, and nothing is refunded.
import { Failure, MissingKey, fail } from './errors.ts'
import { type Watch } from './missing.ts'
import { byteLength } from './utf8.ts'
import { type Entries, Int, Named, type Value, hasEntries, isList, sortedKeys } from './value.ts'

/** The limits of one execution. */
export interface Budget {
  /** Executed nodes, loop iterations, and sorted, printed or scanned elements. */
  readonly steps: number
  /** Maximum output size in bytes. All strings built during execution may total four times this size. */
  readonly outputBytes: number
  /** The maximum nesting depth of template calls. */
  readonly depth: number
}

export const defaultBudget: Budget = { steps: 100_000, outputBytes: 1_048_576, depth: 100 }

/** A function call, for the message of an error that it throws. */
export interface CallSite {
  readonly name: string
  readonly position: number
}

const BUILT_PER_OUTPUT = 4
// A character has at most three bytes per UTF-16 unit.
const BYTES_PER_UNIT = 3
// The maximum number of open blocks and parentheses over all open templates, each of which counts too. The engine
// recurses for each level. Nested ranges need the most stack, and the stack of Node has room for about 1,300 of them.
const OPEN_LEVELS = 800
const LEVELS_PER_TEMPLATE = 2

/** The state of one execution. */
export class Run {
  /** The current position, for the message of a failure. */
  position = 0
  /** The current call, or null between calls. */
  site: CallSite | null = null
  /** The variables in scope are `names[base…top]`. `names` contains their numbers and `values` their values. */
  readonly names: number[] = []
  readonly values: Value[] = []
  base = 0
  top = 0
  #keys: Map<Entries, string[]> | null = null
  #full: Set<Entries> | null = null
  #steps: number
  #depth: number
  #levels = OPEN_LEVELS
  /** UTF-16 units of text built so far. */
  built = 0
  readonly #buildable: number
  #settled = ''
  #recent = ''
  #settledRoom: number
  /** The remaining output if every uncounted unit had three bytes. */
  #room: number

  readonly #failsWithoutKey: boolean
  /** Observes missing values that are used, or null without an observer. */
  readonly watch: Watch | null

  constructor(budget: Budget, failsWithoutKey: boolean, watch: Watch | null) {
    this.#failsWithoutKey = failsWithoutKey
    this.watch = watch
    this.#steps = budget.steps
    this.#depth = budget.depth
    this.#buildable = budget.outputBytes * BUILT_PER_OUTPUT
    this.#settledRoom = budget.outputBytes
    this.#room = budget.outputBytes
  }

  /** Handles a missing key: returns no value, or throws if missing keys are errors. */
  handleMissingKey(
    what: 'map has no entry' | 'nil data; no entry',
    key: string,
    position: number,
  ): undefined {
    if (this.#failsWithoutKey) throw new MissingKey(what, key, position)
    return undefined
  }

  /** Charges steps. Throws if the budget is exhausted. */
  step(count: number): void {
    this.#steps -= count
    if (this.#steps < 0) throw new Failure('the step budget is exhausted', null, 'steps')
  }

  /** Charges reading a text of this length: one step per 64 characters. */
  scan(length: number): void {
    if (length >= 64) this.step(length >> 6)
  }

  /** Charges text that is about to be built. */
  build(length: number): void {
    this.built += length
    if (this.built > this.#buildable) throw new Failure('the string budget is exhausted', null, 'outputBytes')
  }

  /** Writes to the output. */
  write(text: string): void {
    this.#room -= text.length * BYTES_PER_UNIT
    if (this.#room < 0) this.#settle(text)
    this.#recent += text
  }

  /** Counts the bytes written since the last count exactly, so that no text is rejected because of an estimate. */
  #settle(next: string): void {
    this.#settledRoom -= byteLength(this.#recent)
    this.#settled += this.#recent
    this.#recent = ''
    const bytes = next.length > this.#settledRoom ? next.length : byteLength(next)
    this.#room = this.#settledRoom - bytes
    if (this.#room < 0) throw new Failure('the output budget is exhausted', null, 'outputBytes')
  }

  /** The output written so far. */
  get output(): string {
    return this.#settled + this.#recent
  }

  /** Opens a template with this nesting depth. `close` must be called with the same number. */
  open(levels: number): void {
    this.#depth -= 1
    this.#levels -= levels + LEVELS_PER_TEMPLATE
    if (this.#depth < 0 || this.#levels < 0)
      throw new Failure('templates are nested too deeply', null, 'depth')
  }

  close(levels: number): void {
    this.#depth += 1
    this.#levels += levels + LEVELS_PER_TEMPLATE
  }

  /** Declares a variable in the current scope. */
  declare(name: number, value: Value): void {
    this.names[this.top] = name
    this.values[this.top] = value
    this.top += 1
  }

  /** Returns the index of the most recently declared variable of this name. Fails if there is none. */
  indexOfVariable(name: number, spelling: string): number {
    for (let at = this.top - 1; at >= this.base; at--) {
      if (this.names[at] === name) {
        this.scan((this.top - at) << 2)
        return at
      }
    }
    return fail(`undefined variable: ${spelling}`)
  }

  /**
   * Returns the keys of a map in Go's order and charges them. Finding them is charged too, but happens only once per
   * map: the data does not change during an execution.
   */
  keys(map: Entries): readonly string[] {
    this.#keys ??= new Map()
    let keys = this.#keys.get(map)
    if (keys === undefined) {
      // The size of a Map is known in advance.
      if (map instanceof Map) this.step(map.size)
      keys = sortedKeys(map)
      if (!(map instanceof Map)) this.step(keys.length)
      this.#keys.set(map, keys)
    }
    this.step(keys.length)
    return keys
  }

  /** Whether a condition holds: the value is not the zero value of its type. */
  truth(value: Value): boolean {
    if (typeof value === 'boolean') return value
    if (typeof value === 'string') return value !== ''
    if (value === undefined || value === null) return false
    if (typeof value === 'number') return value !== 0
    if (typeof value === 'bigint') return value !== 0n
    if (isList(value)) return value.length > 0
    if (value instanceof Named) return !(value instanceof Int) || value.value !== 0n
    return this.#hasEntries(value)
  }

  /** Checks every map only once: checking whether a large object is empty lists its keys. */
  #hasEntries(map: Entries): boolean {
    this.#full ??= new Set()
    if (this.#full.has(map)) return true
    const full = hasEntries(map)
    if (full) this.#full.add(map)
    return full
  }
}
