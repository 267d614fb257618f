// The lexer: text between actions, and the tokens inside them. It handles trim markers, so the parser never sees them.
// Spaces are not tokens: each token records whether a space precedes it.
import { isLetterOrDigit } from './unicode.ts'

export type TokenType =
  | 'error'
  | 'eof'
  | 'text'
  | 'right'
  | 'keyword'
  | 'identifier'
  | 'field'
  | 'variable'
  | 'dot'
  | 'nil'
  | 'bool'
  | 'number'
  | 'complex'
  | 'char'
  | 'string'
  | 'raw string'
  | 'declare'
  | 'assign'
  | 'pipe'
  | 'open'
  | 'close'
  | 'other'

export type Keyword =
  'block' | 'break' | 'continue' | 'define' | 'else' | 'end' | 'if' | 'range' | 'template' | 'with'

/** Words that are not function names, by their first letter: a name is compared with at most two of them. */
const words: ReadonlyMap<number, readonly (Keyword | 'true' | 'false' | 'nil')[]> = new Map(
  Object.entries({
    b: ['block', 'break'],
    c: ['continue'],
    d: ['define'],
    e: ['else', 'end'],
    f: ['false'],
    i: ['if'],
    n: ['nil'],
    r: ['range'],
    t: ['template', 'true'],
    w: ['with'],
  } as const).map(([initial, list]) => [initial.charCodeAt(0), list]),
)

const LEFT = '{{'
const RIGHT = '}}'
const SPACE = 32
const STAR = 42
const PLUS = 43
const MINUS = 45
const SLASH = 47
const BACKSLASH = 92
const BRACE = 125

/** The classes of ASCII characters in a template. */
const [OTHER, NAME, BLANK, STOP] = [0, 1, 2, 3]
const classes = new Uint8Array(128)
for (let code = 0; code < 128; code++) if (isLetterOrDigit(code)) classes[code] = NAME
for (const blank of ' \t\r\n') classes[blank.charCodeAt(0)] = BLANK
/** Besides spaces and closing delimiters, only these characters may follow a name. */
for (const stop of '.,|:)(') classes[stop.charCodeAt(0)] = STOP

/** Returns the class of a character code. NaN, at the end of the text, is OTHER. */
function classOf(code: number): number {
  if (code < 128) return classes[code] as number
  return code >= 128 && isLetterOrDigit(code) ? NAME : OTHER
}

const isSpace = (code: number): boolean => code < 128 && classes[code] === BLANK
const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Reads a template one token at a time, from start to end. */
export class Lexer {
  /** The token: its type and where it starts and ends. */
  type: TokenType = 'eof'
  start = 0
  end = 0
  /** Whether a space precedes it. */
  spaced = false
  /** The keyword, if the token is one. */
  keyword: Keyword | null = null
  /** The problem, if the token is an error. */
  problem = ''
  readonly #source: string
  /** The position from which the next token is read. */
  #at = 0
  /** The start of the content of an action that was found but not entered yet, or 0. */
  #content = 0
  #inside = false
  #finished = false
  #parentheses = 0

  constructor(source: string) {
    this.#source = source
    this.advance()
  }

  /** The text of the token. */
  get text(): string {
    return this.#source.slice(this.start, this.end)
  }

  /** The name of a field, without its leading dot. */
  get fieldName(): string {
    return this.#source.slice(this.start + 1, this.end)
  }

  /** Advances to the next token. The end and an error are final. */
  advance(): void {
    if (this.#finished) return
    if (this.#inside) this.#action()
    else this.#outside()
  }

  #set(type: TokenType, start: number): void {
    this.type = type
    this.start = start
    this.end = this.#at
  }

  #fail(start: number, problem: string): void {
    this.#finished = true
    this.problem = problem
    this.#set('error', start)
  }

  /** Reads text up to the next action, or the first token of the action if there is no text. */
  #outside(): void {
    for (;;) {
      if (this.#content === 0 && this.#text()) return
      const content = this.#content
      this.#content = 0
      if (!this.#isComment(content)) return this.#enterAction(content)
      if (!this.#skipComment(content)) return
    }
  }

  /** Finds the next action. Returns whether there is a token before it. */
  #text(): boolean {
    const start = this.#at
    const left = this.#source.indexOf(LEFT, start)
    if (left === -1) {
      this.#lastText(start)
      return true
    }
    const trims = this.#source.charCodeAt(left + 2) === MINUS && isSpace(this.#source.charCodeAt(left + 3))
    this.#content = left + (trims ? 4 : 2)
    let end = left
    if (trims) while (end > start && isSpace(this.#source.charCodeAt(end - 1))) end--
    this.#at = end
    this.#set('text', start)
    return end > start
  }

  #lastText(start: number): void {
    this.#at = this.#source.length
    this.#finished = start === this.#at
    this.#set(this.#finished ? 'eof' : 'text', start)
  }

  /** Reads the first token of an action. The opening delimiter is not a token. */
  #enterAction(content: number): void {
    this.#at = content
    this.#inside = true
    this.#parentheses = 0
    this.#action()
  }

  #isComment(at: number): boolean {
    return this.#source.charCodeAt(at) === SLASH && this.#source.charCodeAt(at + 1) === STAR
  }

  /** Skips a comment. Returns false if it is malformed. */
  #skipComment(start: number): boolean {
    const close = this.#source.indexOf('*/', start + 2)
    this.#at = close + 2
    const length = close === -1 ? 0 : this.#rightLength()
    if (length > 0) this.#skipRight(length)
    else this.#fail(start, close === -1 ? 'unclosed comment' : 'comment ends before closing delimiter')
    return length > 0
  }

  /** 2 at a closing delimiter, 4 at one with a trim marker, 0 elsewhere. */
  #rightLength(): number {
    const at = this.#at
    const code = this.#source.charCodeAt(at)
    if (code === BRACE) return this.#source.charCodeAt(at + 1) === BRACE ? 2 : 0
    const trims = isSpace(code) && this.#source.charCodeAt(at + 1) === MINUS
    return trims && this.#source.startsWith(RIGHT, at + 2) ? 4 : 0
  }

  #skipRight(length: number): void {
    this.#at += length
    if (length === 4) while (isSpace(this.#source.charCodeAt(this.#at))) this.#at++
  }

  #action(): void {
    this.spaced = false
    for (;;) {
      const code = this.#source.charCodeAt(this.#at)
      const isBlank = isSpace(code)
      if (isBlank || code === BRACE) {
        const length = this.#rightLength()
        if (length > 0) return this.#right(length)
      }
      if (!isBlank) return this.#item(code)
      this.spaced = true
      this.#at++
    }
  }

  #right(length: number): void {
    const start = this.#at
    if (this.#parentheses > 0) return this.#fail(start, 'unclosed left paren')
    this.#inside = false
    this.#set('right', start)
    this.#skipRight(length)
  }

  #item(code: number): void {
    const start = this.#at
    if (classOf(code) === NAME && !isDigit(code)) return this.#name('identifier', start)
    this.#at++
    switch (this.#source[start]) {
      case undefined:
        return this.#fail(start, 'unclosed action')
      case '.':
        if (isDigit(this.#source.charCodeAt(this.#at))) return this.#number(start)
        return this.#name('field', start)
      case '$':
        return this.#name('variable', start)
      case '"':
        return this.#quoted('string', start)
      case "'":
        return this.#quoted('char', start)
      case '`':
        return this.#rawString(start)
      case '|':
        return this.#set('pipe', start)
      case ':':
        if (this.#source[this.#at] !== '=') return this.#fail(start, 'expected :=')
        this.#at++
        return this.#set('declare', start)
      case '=':
        return this.#set('assign', start)
      case '(':
        this.#parentheses++
        return this.#set('open', start)
      case ')':
        if (this.#parentheses === 0) return this.#fail(start, 'unexpected right paren')
        this.#parentheses--
        return this.#set('close', start)
      default:
        return this.#rest(start)
    }
  }

  /** Reads a number, a name that starts beyond ASCII, or another character. */
  #rest(start: number): void {
    const code = this.#source.codePointAt(start) ?? 0
    if (code === PLUS || code === MINUS || isDigit(code)) return this.#number(start)
    this.#at = start
    if (isLetterOrDigit(code)) return this.#name('identifier', start)
    this.#at++
    if (code > SPACE && code < 127) return this.#set('other', start)
    return this.#fail(start, `unrecognized character in action: ${describe(code)}`)
  }

  /** Reads an identifier, or the rest of a field or variable. A field without a name is the dot. */
  #name(type: 'identifier' | 'field' | 'variable', start: number): void {
    const source = this.#source
    const from = this.#at
    let at = from
    while (classOf(source.charCodeAt(at)) === NAME) at++
    if (source.charCodeAt(at) >= 0xd800) at = this.#skipBeyond(at)
    this.#at = at
    if (!this.#isEndOfName(at))
      return this.#fail(at, `bad character ${describe(source.codePointAt(at) ?? 0)}`)
    if (type === 'identifier') this.#word(start)
    else this.#set(type === 'field' && at === from ? 'dot' : type, start)
  }

  #word(start: number): void {
    const length = this.#at - start
    const candidates = words.get(this.#source.charCodeAt(start))
    const word = candidates?.find((text) => text.length === length && this.#source.startsWith(text, start))
    if (word === undefined) this.#set('identifier', start)
    else if (word === 'true' || word === 'false') this.#set('bool', start)
    else if (word === 'nil') this.#set('nil', start)
    else {
      this.keyword = word
      this.#set('keyword', start)
    }
  }

  /** Skips the rest of a name with letters beyond U+FFFF. */
  #skipBeyond(start: number): number {
    let at = start
    for (;;) {
      const code = this.#source.codePointAt(at)
      if (code === undefined || !isLetterOrDigit(code)) return at
      at += code > 0xffff ? 2 : 1
    }
  }

  #isEndOfName(at: number): boolean {
    const code = this.#source.charCodeAt(at)
    if (Number.isNaN(code)) return true
    if (code === BRACE) return this.#source.charCodeAt(at + 1) === BRACE
    return code < 128 && (classes[code] as number) >= BLANK
  }

  #quoted(type: 'string' | 'char', start: number): void {
    const quote = this.#source.charCodeAt(start)
    for (;;) {
      let code = this.#source.charCodeAt(this.#at++)
      if (code === quote) return this.#set(type, start)
      if (code === BACKSLASH) code = this.#source.charCodeAt(this.#at++)
      if (Number.isNaN(code) || code === 10) {
        const problem =
          type === 'char'
            ? 'unterminated character constant; write text in double quotes'
            : 'unterminated quoted string'
        return this.#fail(start, problem)
      }
    }
  }

  #rawString(start: number): void {
    const close = this.#source.indexOf('`', this.#at)
    if (close === -1) return this.#fail(start, 'unterminated raw quoted string')
    this.#at = close + 1
    this.#set('raw string', start)
  }

  /** Scans a number roughly. Invalid numbers that pass here are rejected when their value is read. */
  #number(start: number): void {
    this.#at = start
    let good = this.#scanNumber()
    const sign = this.#source[this.#at]
    const complex = good && (sign === '+' || sign === '-')
    if (complex) good = this.#scanNumber() && this.#source[this.#at - 1] === 'i'
    if (good) this.#set(complex ? 'complex' : 'number', start)
    else this.#fail(start, `bad number syntax: "${this.#source.slice(start, this.#at)}"`)
  }

  #scanNumber(): boolean {
    this.#accept('+-')
    let digits = '0123456789_'
    if (this.#accept('0')) {
      if (this.#accept('xX')) digits = '0123456789abcdefABCDEF_'
      else if (this.#accept('oO')) digits = '01234567_'
      else if (this.#accept('bB')) digits = '01_'
    }
    this.#acceptRun(digits)
    if (this.#accept('.')) this.#acceptRun(digits)
    const exponent = digits.length === 11 ? 'eE' : digits.length === 23 ? 'pP' : ''
    if (this.#accept(exponent)) {
      this.#accept('+-')
      this.#acceptRun('0123456789_')
    }
    this.#accept('i')
    const code = this.#source.codePointAt(this.#at)
    if (code === undefined || !isLetterOrDigit(code)) return true
    this.#at++
    return false
  }

  #accept(characters: string): boolean {
    const character = this.#source[this.#at]
    if (character === undefined || !characters.includes(character)) return false
    this.#at++
    return true
  }

  #acceptRun(characters: string): void {
    while (this.#accept(characters));
  }
}

const describe = (code: number): string =>
  `U+${code.toString(16).toUpperCase().padStart(4, '0')} '${String.fromCodePoint(code)}'`
