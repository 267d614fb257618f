// One execution: its budget, output and variables. All costs are charged here in advance, and nothing is refunded.
import { Failure, MissingKeyFailure, fail } from './errors.ts'
import { type Watch } from './missing.ts'
import { countBytes } from './utf8.ts'
import { type Entries, Int, Named, type Value, hasEntries, isList, getSortedKeys } from './value.ts'

/** The limits of one execution. */
export interface Budget {
  /** The number of executed nodes, loop iterations, and sorted, printed or scanned elements. */
  readonly steps: number
  /** Maximum output size in bytes. All strings built during execution may total four times this size. */
  readonly outputBytes: number
  /** The maximum nesting depth of template calls. */
  readonly depth: number
}

export const defaultBudget: Budget = { steps: 100_000, outputBytes: 1_048_576, depth: 100 }

/** A function call. Its name and position appear in the message of an error that the function throws. */
export interface CallSite {
  readonly name: string
  readonly position: number
}

const BUILT_PER_OUTPUT = 4
// A character has at most three bytes per UTF-16 unit.
const BYTES_PER_UNIT = 3
// The maximum number of open blocks, parentheses and templates. The engine recurses for each level. Nested
// ranges need the most stack space: Node's stack has room for about 1,300 of them.
const MAX_OPEN_LEVELS = 800
const LEVELS_PER_TEMPLATE = 2

/** The state of one execution. */
export class Run {
  /** The current position, which appears in error messages. */
  position = 0
  /** The current call, or null if no call is in progress. */
  site: CallSite | null = null
  /**
   * The variables in scope are at indexes `base` to `top`: their numbers in `names` and their values in
   * `values`.
   */
  readonly names: number[] = []
  readonly values: Value[] = []
  base = 0
  top = 0
  #keys: Map<Entries, string[]> | null = null
  #nonEmptyMaps: Set<Entries> | null = null
  #steps: number
  #depth: number
  #levels = MAX_OPEN_LEVELS
  /** UTF-16 units of text built so far. */
  built = 0
  readonly #maxBuiltLength: number
  #settled = ''
  #recent = ''
  #settledRoom: number
  /** The remaining output size, assuming that every uncounted unit takes three bytes. */
  #room: number

  readonly #failsWithoutKey: boolean
  /** Observes missing values that are used. Null if the caller requested no reports. */
  readonly watch: Watch | null

  constructor(budget: Budget, failsWithoutKey: boolean, watch: Watch | null) {
    this.#failsWithoutKey = failsWithoutKey
    this.watch = watch
    this.#steps = budget.steps
    this.#depth = budget.depth
    this.#maxBuiltLength = budget.outputBytes * BUILT_PER_OUTPUT
    this.#settledRoom = budget.outputBytes
    this.#room = budget.outputBytes
  }

  /** Handles a missing key: returns no value, or throws if missing keys are errors. */
  handleMissingKey(
    problem: 'map has no entry' | 'nil data; no entry',
    key: string,
    position: number,
  ): undefined {
    if (this.#failsWithoutKey) throw new MissingKeyFailure(problem, key, position)
    return undefined
  }

  /** Charges steps. Throws if the budget is exhausted. */
  chargeSteps(count: number): void {
    this.#steps -= count
    if (this.#steps < 0) throw new Failure('the step budget is exhausted', null, 'steps')
  }

  /** Charges the cost of reading text of this length: one step per 64 characters. */
  chargeScan(length: number): void {
    if (length >= 64) this.chargeSteps(length >> 6)
  }

  /** Charges the length of text that is about to be built. */
  chargeBuild(length: number): void {
    this.built += length
    if (this.built > this.#maxBuiltLength)
      throw new Failure('the string budget is exhausted', null, 'outputBytes')
  }

  write(text: string): void {
    this.#room -= text.length * BYTES_PER_UNIT
    if (this.#room < 0) this.#settle(text)
    this.#recent += text
  }

  /**
   * Counts the exact number of bytes written since the last count, so that no text is rejected because of an
   * estimate.
   */
  #settle(next: string): void {
    this.#settledRoom -= countBytes(this.#recent)
    this.#settled += this.#recent
    this.#recent = ''
    const bytes = next.length > this.#settledRoom ? next.length : countBytes(next)
    this.#room = this.#settledRoom - bytes
    if (this.#room < 0) throw new Failure('the output budget is exhausted', null, 'outputBytes')
  }

  /** Returns the output written so far. */
  get output(): string {
    return this.#settled + this.#recent
  }

  /** Opens a template with this nesting depth. The caller must call `close` with the same number. */
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

  declare(name: number, value: Value): void {
    this.names[this.top] = name
    this.values[this.top] = value
    this.top += 1
  }

  /** Returns the index of the most recently declared variable with this name. Fails if there is none. */
  findVariableIndex(name: number, spelling: string): number {
    for (let at = this.top - 1; at >= this.base; at--) {
      if (this.names[at] === name) {
        this.chargeScan((this.top - at) << 2)
        return at
      }
    }
    return fail(`undefined variable: ${spelling}`)
  }

  /**
   * Returns the keys of a map in Go's order and charges one step per key. Collecting the keys is charged too, but
   * happens only once per map, because the data does not change during an execution.
   */
  listKeys(map: Entries): readonly string[] {
    this.#keys ??= new Map()
    let keys = this.#keys.get(map)
    if (keys === undefined) {
      // The size of a Map is known before its keys are collected.
      if (map instanceof Map) this.chargeSteps(map.size)
      keys = getSortedKeys(map)
      if (!(map instanceof Map)) this.chargeSteps(keys.length)
      this.#keys.set(map, keys)
    }
    this.chargeSteps(keys.length)
    return keys
  }

  /** Returns whether the value is true as a condition: it is not the zero value of its type. */
  isTruthy(value: Value): boolean {
    if (typeof value === 'boolean') return value
    if (typeof value === 'string') return value !== ''
    if (value === undefined || value === null) return false
    if (typeof value === 'number') return value !== 0
    if (typeof value === 'bigint') return value !== 0n
    if (isList(value)) return value.length > 0
    if (value instanceof Named) return !(value instanceof Int) || value.value !== 0n
    return this.#hasEntries(value)
  }

  /** Checks each nonempty map only once, because the check of a large object lists its keys. */
  #hasEntries(map: Entries): boolean {
    this.#nonEmptyMaps ??= new Set()
    if (this.#nonEmptyMaps.has(map)) return true
    const isFull = hasEntries(map)
    if (isFull) this.#nonEmptyMaps.add(map)
    return isFull
  }
}
