// One execution: its budget, its output and its variables. Everything an execution spends is counted here, before it
// is spent, and nothing is ever given back.
import { Failure, MissingKey, fail } from './errors.ts'
import { type Watch } from './missing.ts'
import { byteLength } from './utf8.ts'
import { type Entries, Int, Named, type Value, hasEntries, isList, sortedKeys } from './value.ts'

/** What one execution may spend. */
export interface Budget {
  /** Nodes executed, loop passes, and elements sorted, printed or scanned. */
  readonly steps: number
  /** Bytes of output. Strings built on the way may together have four times as many. */
  readonly outputBytes: number
  /** Templates that may be nested. */
  readonly depth: number
}

export const defaultBudget: Budget = { steps: 100_000, outputBytes: 1_048_576, depth: 100 }

/** A place where a function is called, for the message of what it throws. */
export interface CallSite {
  readonly name: string
  readonly position: number
}

const BUILT_PER_OUTPUT = 4
// A character has at most three bytes per UTF-16 unit.
const BYTES_PER_UNIT = 3
// Blocks and parentheses that may be open within one another, over all open templates, each of which counts too. The
// engine recurses for each of them; nested ranges take the most, and Node's stack has room for some 1,300.
const OPEN_LEVELS = 800
const LEVELS_PER_TEMPLATE = 2

/** The state of one execution. */
export class Run {
  /** Where the execution is, for the message of a failure. */
  position = 0
  /** The call that is being made, null between calls. */
  site: CallSite | null = null
  /** The variables in scope are `names[base…top]`; `names` holds their numbers, `values` their values. */
  readonly names: number[] = []
  readonly values: Value[] = []
  base = 0
  top = 0
  #keys: Map<Entries, string[]> | null = null
  #full: Set<Entries> | null = null
  #steps: number
  #depth: number
  #levels = OPEN_LEVELS
  /** Units of text built so far. */
  built = 0
  readonly #buildable: number
  #settled = ''
  #recent = ''
  #settledRoom: number
  /** Room for output if every unit not yet counted had three bytes. */
  #room: number

  readonly #failsWithoutKey: boolean
  /** Sees what has no value and is used nevertheless; null when nobody looks. */
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

  /** A key that the data lacks: no value, or a failure where the template wants one. */
  lacks(what: 'map has no entry' | 'nil data; no entry', key: string, position: number): undefined {
    if (this.#failsWithoutKey) throw new MissingKey(what, key, position)
    return undefined
  }

  /** Counts steps. */
  step(count: number): void {
    this.#steps -= count
    if (this.#steps < 0) throw new Failure('the budget of steps is used up', null, 'steps')
  }

  /** Counts the reading of a text of this length: one step for 64 characters. */
  scan(length: number): void {
    if (length >= 64) this.step(length >> 6)
  }

  /** Counts text that is about to be built. */
  build(length: number): void {
    this.built += length
    if (this.built > this.#buildable)
      throw new Failure('the budget for building strings is used up', null, 'outputBytes')
  }

  /** Writes to the output. */
  write(text: string): void {
    this.#room -= text.length * BYTES_PER_UNIT
    if (this.#room < 0) this.#settle(text)
    this.#recent += text
  }

  /** Counts the bytes written since the last time exactly, so that text is not refused by an estimate. */
  #settle(next: string): void {
    this.#settledRoom -= byteLength(this.#recent)
    this.#settled += this.#recent
    this.#recent = ''
    const bytes = next.length > this.#settledRoom ? next.length : byteLength(next)
    this.#room = this.#settledRoom - bytes
    if (this.#room < 0) throw new Failure('the budget of output is used up', null, 'outputBytes')
  }

  /** What was written so far. */
  get output(): string {
    return this.#settled + this.#recent
  }

  /** Opens a template with this many levels of blocks and parentheses; `close` with the same number closes it. */
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

  /** Declares a variable in the scope that is open. */
  declare(name: number, value: Value): void {
    this.names[this.top] = name
    this.values[this.top] = value
    this.top += 1
  }

  /** The place of the variable declared last under this name. */
  place(name: number, spelling: string): number {
    for (let at = this.top - 1; at >= this.base; at--) {
      if (this.names[at] === name) {
        this.scan((this.top - at) << 2)
        return at
      }
    }
    return fail(`undefined variable: ${spelling}`)
  }

  /**
   * The keys of a map in Go's order, which are counted. They are found only once, which is counted too: data stays as
   * it is while a template runs.
   */
  keys(map: Entries): readonly string[] {
    this.#keys ??= new Map()
    let keys = this.#keys.get(map)
    if (keys === undefined) {
      // A Map knows its size beforehand.
      if (map instanceof Map) this.step(map.size)
      keys = sortedKeys(map)
      if (!(map instanceof Map)) this.step(keys.length)
      this.#keys.set(map, keys)
    }
    this.step(keys.length)
    return keys
  }

  /** Whether a condition holds for the value: it is not the zero value of its type. */
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
