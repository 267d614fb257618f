// Parses the filters of SCIM lists (RFC 7644, section 3.4.2.2) and the paths of SCIM patches. Each character is read once.
// The length of the text, the nesting and the number of comparisons are limited.
import {
  type AttributePath,
  type ScimValue,
  formatAttributePath,
  parseAttributePath,
} from './scim-attributes.pure.ts'
import { scimBadRequest } from './scim-errors.pure.ts'

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const
/** A comparison; `pr` tests whether the attribute has a value. */
export type Operator = (typeof operators)[number]

export type Comparison = {
  readonly kind: 'compare'
  readonly path: AttributePath
  readonly operator: Operator
  /** Null for `pr`. */
  readonly value: ScimValue
}
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | Comparison
  /** One value of the attribute must match the whole filter, as in `emails[type eq "work"]`. */
  | { readonly kind: 'element'; readonly path: AttributePath; readonly filter: Filter }

/** The target of a patch operation: an attribute, and a filter that selects some of its values. */
export type PatchPath = { readonly path: AttributePath; readonly filter: Filter | null }

type Limits = { length: number; depth: number; comparisons: number }
export const filterLimits: Limits = { length: 2_000, depth: 10, comparisons: 50 }
export const pathLimits: Limits = { length: 500, depth: 4, comparisons: 10 }

/** Parses a filter; throws `invalidFilter` if it is malformed or exceeds a limit. */
export const parseFilter = (text: string): Filter =>
  new Parser(text, filterLimits, 'invalidFilter').parseFilter()

/** Parses the path of a patch operation; throws `invalidPath` if it is malformed or exceeds a limit. */
export const parsePatchPath = (text: string): PatchPath =>
  new Parser(text, pathLimits, 'invalidPath').parsePatchPath()

type Token = { kind: 'word' | 'other' | 'end'; text: string; at: number }

// The alternatives start with different characters, so the expression never reads a character twice.
const tokenPattern =
  /([A-Za-z$][A-Za-z0-9_$.:-]*)|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[()[\].]/y
const space = 0x20

class Parser {
  readonly #text: string
  readonly #limits: Limits
  readonly #scimType: 'invalidFilter' | 'invalidPath'
  #position = 0
  #comparisons = 0
  #token: Token = { kind: 'end', text: '', at: 0 }

  constructor(text: string, limits: Limits, scimType: 'invalidFilter' | 'invalidPath') {
    this.#text = text
    this.#limits = limits
    this.#scimType = scimType
    if (text.length > limits.length) throw this.#fail(`it has more than ${limits.length} characters`)
    this.#advance()
  }

  parseFilter(): Filter {
    const filter = this.#parseAlternatives(0, false)
    this.#expectEnd()
    return filter
  }

  parsePatchPath(): PatchPath {
    const path = this.#takePath()
    if (!this.#take('[')) {
      this.#expectEnd()
      return { path, filter: null }
    }
    const { filter, sub } = this.#parseElementFilter(path, 0)
    this.#expectEnd()
    return { path: { ...path, sub }, filter }
  }

  #parseAlternatives(depth: number, isInElement: boolean): Filter {
    const filters = [this.#parseConjunction(depth, isInElement)]
    while (this.#takeWord('or')) filters.push(this.#parseConjunction(depth, isInElement))
    return filters.length === 1 ? (filters[0] as Filter) : { kind: 'or', filters }
  }

  #parseConjunction(depth: number, isInElement: boolean): Filter {
    const filters = [this.#parseTerm(depth, isInElement)]
    while (this.#takeWord('and')) filters.push(this.#parseTerm(depth, isInElement))
    return filters.length === 1 ? (filters[0] as Filter) : { kind: 'and', filters }
  }

  #parseTerm(depth: number, isInElement: boolean): Filter {
    const isNegated = this.#takeWord('not')
    if (isNegated && this.#token.text !== '(') throw this.#failAt('expected ( after not')
    if (this.#take('(')) {
      if (depth >= this.#limits.depth)
        throw this.#fail(`it is nested more than ${this.#limits.depth} levels deep`)
      const filter = this.#parseAlternatives(depth + 1, isInElement)
      if (!this.#take(')')) throw this.#failAt('expected )')
      return isNegated ? { kind: 'not', filter } : filter
    }
    const path = this.#takePath()
    if (!isInElement && this.#take('[')) return this.#parseElement(path, depth)
    return this.#parseComparison(path)
  }

  /** Parses `emails[type eq "work"]`, and also `emails[type eq "work"].value eq "…"`, which Entra ID sends. */
  #parseElement(path: AttributePath, depth: number): Filter {
    const { filter, sub } = this.#parseElementFilter(path, depth)
    if (sub === null) return { kind: 'element', path, filter }
    const comparison = this.#parseComparison({ name: sub, sub: null })
    return { kind: 'element', path, filter: { kind: 'and', filters: [filter, comparison] } }
  }

  /** Parses the filter after `[`, and the name after `].` if there is one. */
  #parseElementFilter(path: AttributePath, depth: number): { filter: Filter; sub: string | null } {
    if (path.sub !== null) throw this.#failAt(`${formatAttributePath(path)} has no values to select`)
    const filter = this.#parseAlternatives(depth + 1, true)
    if (!this.#take(']')) throw this.#failAt('expected ]')
    if (!this.#take('.')) return { filter, sub: null }
    const { name, sub } = this.#takePath()
    if (sub !== null) throw this.#failAt('expected the name of one sub-attribute after ].')
    return { filter, sub: name }
  }

  #parseComparison(path: AttributePath): Filter {
    this.#comparisons++
    if (this.#comparisons > this.#limits.comparisons)
      throw this.#fail(`it has more than ${this.#limits.comparisons} comparisons`)
    const operator = operators.find((one) => this.#takeWord(one))
    if (operator === undefined) throw this.#failAt(`expected an operator: ${operators.join(', ')}`)
    return { kind: 'compare', path, operator, value: operator === 'pr' ? null : this.#takeValue() }
  }

  #takePath(): AttributePath {
    const path = this.#token.kind === 'word' ? parseAttributePath(this.#token.text) : null
    if (path === null) throw this.#failAt('expected the name of an attribute')
    this.#advance()
    return path
  }

  #takeValue(): ScimValue {
    const { kind, text } = this.#token
    const value = parseJson(kind === 'word' ? text.toLowerCase() : text)
    if (value === undefined)
      throw this.#failAt('expected a value: a text in double quotes, a number, true, false or null')
    this.#advance()
    return value
  }

  #take(text: string): boolean {
    const isNext = this.#token.text === text
    if (isNext) this.#advance()
    return isNext
  }

  #takeWord(word: string): boolean {
    const isNext = this.#token.kind === 'word' && this.#token.text.toLowerCase() === word
    if (isNext) this.#advance()
    return isNext
  }

  #expectEnd(): void {
    if (this.#token.kind !== 'end') throw this.#failAt('expected and, or, or the end')
  }

  #advance(): void {
    while (this.#text.charCodeAt(this.#position) === space) this.#position++
    const at = this.#position
    tokenPattern.lastIndex = at
    const match = tokenPattern.exec(this.#text)
    if (match === null && at < this.#text.length)
      throw this.#fail(`character ${at + 1} is not expected there`)
    const text = match?.[0] ?? ''
    const kind = match === null ? 'end' : match[1] === undefined ? 'other' : 'word'
    this.#token = { kind, text, at }
    this.#position = at + text.length
  }

  #failAt(problem: string): Error {
    return this.#fail(`${problem} at character ${this.#token.at + 1}`)
  }

  #fail(problem: string): Error {
    const noun = this.#scimType === 'invalidFilter' ? 'filter' : 'path'
    return scimBadRequest(this.#scimType, `the ${noun} is malformed: ${problem}`)
  }
}

/** Returns the value of a JSON text, or undefined if it is not valid JSON, for example because of a line break. */
function parseJson(text: string): ScimValue | undefined {
  try {
    return JSON.parse(text) as ScimValue
  } catch {
    return undefined
  }
}
