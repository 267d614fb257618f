// The lexer: text between actions, and the tokens inside them. Trim markers are dealt with here; the parser never sees
// them. Spaces are no tokens: each token knows whether one stood before it.
import { isLetterOrDigit } from './unicode.ts'

export type TokenType =
  | 'error'
  | 'eof'
  | 'text'
  | 'left'
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

export interface Token {
  readonly type: TokenType
  readonly position: number
  /** The text of the token; of an error, what is wrong. */
  readonly text: string
  /** Whether a space stands before it. */
  readonly spaced: boolean
}

const keywords = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
])

const LEFT = '{{'
const RIGHT = '}}'
const SPACE = 32
const PLUS = 43
const MINUS = 45
const BACKSLASH = 92
const BRACE = 125

const isSpace = (code: number): boolean => code === SPACE || code === 9 || code === 10 || code === 13
const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Reads a template from its beginning to its end, one token at a time. */
export class Lexer {
  readonly #source: string
  #at = 0
  #inside = false
  #parentheses = 0
  /** Set once the end or an error was reached; it is answered from then on. */
  #last: Token | null = null
  #spaced = false

  constructor(source: string) {
    this.#source = source
  }

  /** The next token; after the end or an error always the same one. */
  next(): Token {
    if (this.#last !== null) return this.#last
    while (!this.#inside) {
      const token = this.#text()
      if (token !== null) return token
    }
    return this.#action()
  }

  #token(type: TokenType, position: number): Token {
    return { type, position, text: this.#source.slice(position, this.#at), spaced: this.#spaced }
  }

  #end(type: 'error' | 'eof', position: number, text: string): Token {
    this.#last = { type, position, text, spaced: this.#spaced }
    return this.#last
  }

  #error(position: number, reason: string): Token {
    return this.#end('error', position, reason)
  }

  /** The text before the next action; null when there is none and the action may begin. */
  #text(): Token | null {
    const start = this.#at
    const left = this.#source.indexOf(LEFT, start)
    const trimmed = left !== -1 && this.#isTrimmedLeft(left + 2)
    let end = left === -1 ? this.#source.length : left
    if (trimmed) while (end > start && isSpace(this.#source.charCodeAt(end - 1))) end--
    if (end > start) {
      this.#at = end
      const token = this.#token('text', start)
      // The spaces that were trimmed are passed over; the action begins at the delimiter.
      if (left !== -1) this.#at = left
      return token
    }
    if (left === -1) return this.#end('eof', start, '')
    return this.#leftDelimiter(left, trimmed)
  }

  #isTrimmedLeft(at: number): boolean {
    return this.#source.charCodeAt(at) === MINUS && isSpace(this.#source.charCodeAt(at + 1))
  }

  #leftDelimiter(left: number, trimmed: boolean): Token | null {
    const content = left + LEFT.length + (trimmed ? 2 : 0)
    if (this.#source.startsWith('/*', content)) return this.#comment(content)
    this.#at = left + LEFT.length
    this.#spaced = false
    const token = this.#token('left', left)
    this.#at = content
    this.#inside = true
    this.#parentheses = 0
    return token
  }

  #comment(start: number): Token | null {
    const close = this.#source.indexOf('*/', start + 2)
    if (close === -1) return this.#error(start, 'unclosed comment')
    this.#at = close + 2
    const length = this.#rightDelimiterLength()
    if (length === 0) return this.#error(start, 'comment ends before closing delimiter')
    this.#skipRightDelimiter(length)
    return null
  }

  /** 2 at a closing delimiter, 4 at one with a trim marker, 0 elsewhere. */
  #rightDelimiterLength(): number {
    const at = this.#at
    const code = this.#source.charCodeAt(at)
    if (code === BRACE) return this.#source.charCodeAt(at + 1) === BRACE ? 2 : 0
    const trims = isSpace(code) && this.#source.charCodeAt(at + 1) === MINUS
    return trims && this.#source.startsWith(RIGHT, at + 2) ? 4 : 0
  }

  #skipRightDelimiter(length: number): void {
    this.#at += length
    if (length === 4) while (isSpace(this.#source.charCodeAt(this.#at))) this.#at++
  }

  #action(): Token {
    this.#spaced = false
    for (;;) {
      const length = this.#rightDelimiterLength()
      if (length > 0) return this.#rightDelimiter(length)
      if (!isSpace(this.#source.charCodeAt(this.#at))) break
      this.#spaced = true
      this.#at++
    }
    return this.#item()
  }

  #rightDelimiter(length: number): Token {
    const start = this.#at
    if (this.#parentheses > 0) return this.#error(start, 'unclosed left paren')
    const token: Token = { type: 'right', position: start, text: RIGHT, spaced: this.#spaced }
    this.#inside = false
    this.#skipRightDelimiter(length)
    return token
  }

  #item(): Token {
    const start = this.#at
    const character = this.#source[start]
    if (character === undefined) return this.#error(start, 'unclosed action')
    this.#at++
    switch (character) {
      case '=':
        return this.#token('assign', start)
      case ':':
        if (this.#source[this.#at] !== '=') return this.#error(start, 'expected :=')
        this.#at++
        return this.#token('declare', start)
      case '|':
        return this.#token('pipe', start)
      case '"':
        return this.#quoted('string', start)
      case "'":
        return this.#quoted('char', start)
      case '`':
        return this.#rawString(start)
      case '$':
        return this.#name('variable', start)
      case '.':
        return isDigit(this.#source.charCodeAt(this.#at)) ? this.#number(start) : this.#name('field', start)
      case '(':
        this.#parentheses++
        return this.#token('open', start)
      case ')':
        return this.#close(start)
      default:
        return this.#word(start)
    }
  }

  #close(start: number): Token {
    if (this.#parentheses === 0) return this.#error(start, 'unexpected right paren')
    this.#parentheses--
    return this.#token('close', start)
  }

  #word(start: number): Token {
    this.#at = start
    const code = this.#source.codePointAt(start) ?? 0
    if (code === PLUS || code === MINUS || isDigit(code)) return this.#number(start)
    if (isLetterOrDigit(code)) return this.#name('identifier', start)
    this.#at++
    if (code > SPACE && code < 127) return this.#token('other', start)
    return this.#error(start, `unrecognized character in action: ${describe(code)}`)
  }

  /** An identifier, or a field or variable after its first character. */
  #name(type: 'identifier' | 'field' | 'variable', start: number): Token {
    if (type === 'field' && this.#atTerminator()) return this.#token('dot', start)
    for (;;) {
      const code = this.#source.codePointAt(this.#at)
      if (code === undefined || !isLetterOrDigit(code)) break
      this.#at += code > 0xffff ? 2 : 1
    }
    if (!this.#atTerminator())
      return this.#error(this.#at, `bad character ${describe(this.#source.codePointAt(this.#at) ?? 0)}`)
    return this.#token(type === 'identifier' ? wordType(this.#source.slice(start, this.#at)) : type, start)
  }

  /** Whether a name may end here. */
  #atTerminator(): boolean {
    const code = this.#source.charCodeAt(this.#at)
    switch (code) {
      case 0x2e: // .
      case 0x2c: // ,
      case 0x7c: // |
      case 0x3a: // :
      case 0x29: // )
      case 0x28: // (
        return true
      case 0x7d: // }
        return this.#source.charCodeAt(this.#at + 1) === code
      default:
        return isSpace(code) || Number.isNaN(code)
    }
  }

  #quoted(type: 'string' | 'char', start: number): Token {
    const quote = this.#source.charCodeAt(start)
    for (;;) {
      let code = this.#source.charCodeAt(this.#at++)
      if (code === quote) return this.#token(type, start)
      if (code === BACKSLASH) code = this.#source.charCodeAt(this.#at++)
      if (Number.isNaN(code) || code === 10)
        return this.#error(
          start,
          type === 'char' ? 'unterminated character constant' : 'unterminated quoted string',
        )
    }
  }

  #rawString(start: number): Token {
    const close = this.#source.indexOf('`', this.#at)
    if (close === -1) return this.#error(start, 'unterminated raw quoted string')
    this.#at = close + 1
    return this.#token('raw string', start)
  }

  /** A number, roughly: what passes here and is none is refused when its value is read. */
  #number(start: number): Token {
    this.#at = start
    if (!this.#scanNumber()) return this.#badNumber(start)
    const sign = this.#source[this.#at]
    if (sign !== '+' && sign !== '-') return this.#token('number', start)
    if (!this.#scanNumber() || this.#source[this.#at - 1] !== 'i') return this.#badNumber(start)
    return this.#token('complex', start)
  }

  #badNumber(start: number): Token {
    return this.#error(start, `bad number syntax: "${this.#source.slice(start, this.#at)}"`)
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

function wordType(word: string): TokenType {
  if (keywords.has(word)) return 'keyword'
  if (word === 'true' || word === 'false') return 'bool'
  return word === 'nil' ? 'nil' : 'identifier'
}

const describe = (code: number): string =>
  `U+${code.toString(16).toUpperCase().padStart(4, '0')} '${String.fromCodePoint(code)}'`
