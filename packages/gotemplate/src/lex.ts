// The lexer splits a template into text and the tokens of actions. It handles trim markers, so the parser
// never sees them. Spaces are not tokens. Instead, each token records whether a space precedes it.
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

/** Reserved words, grouped by first letter. A name is compared with at most two of them. */
const reservedWords: ReadonlyMap<number, readonly (Keyword | 'true' | 'false' | 'nil')[]> = new Map(
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
const characterClasses = new Uint8Array(128)
for (let code = 0; code < 128; code++) if (isLetterOrDigit(code)) characterClasses[code] = NAME
for (const blank of ' \t\r\n') characterClasses[blank.charCodeAt(0)] = BLANK
/** Besides spaces and closing delimiters, only these characters may follow a name. */
for (const terminator of '.,|:)(') characterClasses[terminator.charCodeAt(0)] = STOP

/**
 * Returns the class of a character code. The code at the end of the text is NaN, which has the class OTHER.
 */
function getClass(code: number): number {
  if (code < 128) return characterClasses[code] as number
  return code >= 128 && isLetterOrDigit(code) ? NAME : OTHER
}

const isSpace = (code: number): boolean => code < 128 && characterClasses[code] === BLANK
const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Reads a template one token at a time, from start to end. */
export class Lexer {
  /** The type of the current token, and the positions at which it starts and ends. */
  type: TokenType = 'eof'
  start = 0
  end = 0
  hasSpaceBefore = false
  /** Null if the token is not a keyword. */
  keyword: Keyword | null = null
  /** The error message of an error token, otherwise empty. */
  problem = ''
  readonly #source: string
  /** The position of the next token. */
  #at = 0
  /** The start of the next action's content if only the text before the action has been read, otherwise 0. */
  #contentStart = 0
  #isInsideAction = false
  #isFinished = false
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

  /** Advances to the next token. After the end of the text or an error, the token does not change. */
  advance(): void {
    if (this.#isFinished) return
    if (this.#isInsideAction) this.#scanAction()
    else this.#scanOutsideAction()
  }

  #set(type: TokenType, start: number): void {
    this.type = type
    this.start = start
    this.end = this.#at
  }

  #fail(start: number, problem: string): void {
    this.#isFinished = true
    this.problem = problem
    this.#set('error', start)
  }

  /** Reads the text up to the next action. If there is no text, reads the first token of the action. */
  #scanOutsideAction(): void {
    for (;;) {
      if (this.#contentStart === 0 && this.#scanText()) return
      const content = this.#contentStart
      this.#contentStart = 0
      if (!this.#isComment(content)) return this.#enterAction(content)
      if (!this.#skipComment(content)) return
    }
  }

  /** Finds the next action. Returns whether a token precedes it. */
  #scanText(): boolean {
    const start = this.#at
    const leftAt = this.#source.indexOf(LEFT, start)
    if (leftAt === -1) {
      this.#scanLastText(start)
      return true
    }
    const hasTrimMarker =
      this.#source.charCodeAt(leftAt + 2) === MINUS && isSpace(this.#source.charCodeAt(leftAt + 3))
    this.#contentStart = leftAt + (hasTrimMarker ? 4 : 2)
    let end = leftAt
    if (hasTrimMarker) while (end > start && isSpace(this.#source.charCodeAt(end - 1))) end--
    this.#at = end
    this.#set('text', start)
    return end > start
  }

  #scanLastText(start: number): void {
    this.#at = this.#source.length
    this.#isFinished = start === this.#at
    this.#set(this.#isFinished ? 'eof' : 'text', start)
  }

  /** Reads the first token of an action. The opening delimiter is not a token. */
  #enterAction(content: number): void {
    this.#at = content
    this.#isInsideAction = true
    this.#parentheses = 0
    this.#scanAction()
  }

  #isComment(at: number): boolean {
    return this.#source.charCodeAt(at) === SLASH && this.#source.charCodeAt(at + 1) === STAR
  }

  /** Skips a comment. Returns false if it is malformed. */
  #skipComment(start: number): boolean {
    const closeAt = this.#source.indexOf('*/', start + 2)
    this.#at = closeAt + 2
    const length = closeAt === -1 ? 0 : this.#getRightLength()
    if (length > 0) this.#skipRight(length)
    else this.#fail(start, closeAt === -1 ? 'unclosed comment' : 'comment ends before closing delimiter')
    return length > 0
  }

  /**
   * Returns the length of the closing delimiter here: 2, or 4 with a trim marker. Returns 0 if there is none.
   */
  #getRightLength(): number {
    const at = this.#at
    const code = this.#source.charCodeAt(at)
    if (code === BRACE) return this.#source.charCodeAt(at + 1) === BRACE ? 2 : 0
    const hasTrimMarker = isSpace(code) && this.#source.charCodeAt(at + 1) === MINUS
    return hasTrimMarker && this.#source.startsWith(RIGHT, at + 2) ? 4 : 0
  }

  #skipRight(length: number): void {
    this.#at += length
    if (length === 4) while (isSpace(this.#source.charCodeAt(this.#at))) this.#at++
  }

  #scanAction(): void {
    this.hasSpaceBefore = false
    for (;;) {
      const code = this.#source.charCodeAt(this.#at)
      const isBlank = isSpace(code)
      if (isBlank || code === BRACE) {
        const length = this.#getRightLength()
        if (length > 0) return this.#scanRightDelimiter(length)
      }
      if (!isBlank) return this.#scanItem(code)
      this.hasSpaceBefore = true
      this.#at++
    }
  }

  #scanRightDelimiter(length: number): void {
    const start = this.#at
    if (this.#parentheses > 0) return this.#fail(start, 'unclosed left paren')
    this.#isInsideAction = false
    this.#set('right', start)
    this.#skipRight(length)
  }

  #scanItem(code: number): void {
    const start = this.#at
    if (getClass(code) === NAME && !isDigit(code)) return this.#scanName('identifier', start)
    this.#at++
    switch (this.#source[start]) {
      case undefined:
        return this.#fail(start, 'unclosed action')
      case '.':
        if (isDigit(this.#source.charCodeAt(this.#at))) return this.#readNumber(start)
        return this.#scanName('field', start)
      case '$':
        return this.#scanName('variable', start)
      case '"':
        return this.#scanQuoted('string', start)
      case "'":
        return this.#scanQuoted('char', start)
      case '`':
        return this.#scanRawString(start)
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
        return this.#scanOther(start)
    }
  }

  /** Reads a number, a name that starts with a non-ASCII letter, or another character. */
  #scanOther(start: number): void {
    const code = this.#source.codePointAt(start) ?? 0
    if (code === PLUS || code === MINUS || isDigit(code)) return this.#readNumber(start)
    this.#at = start
    if (isLetterOrDigit(code)) return this.#scanName('identifier', start)
    this.#at++
    if (code > SPACE && code < 127) return this.#set('other', start)
    return this.#fail(start, `unrecognized character in action: ${describe(code)}`)
  }

  /** Reads an identifier, or the rest of a field or variable name. A field without a name is the dot. */
  #scanName(type: 'identifier' | 'field' | 'variable', start: number): void {
    const source = this.#source
    const from = this.#at
    let at = from
    while (getClass(source.charCodeAt(at)) === NAME) at++
    if (source.charCodeAt(at) >= 0xd800) at = this.#skipNonAsciiName(at)
    this.#at = at
    if (!this.#isEndOfName(at))
      return this.#fail(at, `bad character ${describe(source.codePointAt(at) ?? 0)}`)
    if (type === 'identifier') this.#scanWord(start)
    else this.#set(type === 'field' && at === from ? 'dot' : type, start)
  }

  #scanWord(start: number): void {
    const length = this.#at - start
    const candidates = reservedWords.get(this.#source.charCodeAt(start))
    const word = candidates?.find((text) => text.length === length && this.#source.startsWith(text, start))
    if (word === undefined) this.#set('identifier', start)
    else if (word === 'true' || word === 'false') this.#set('bool', start)
    else if (word === 'nil') this.#set('nil', start)
    else {
      this.keyword = word
      this.#set('keyword', start)
    }
  }

  /** Skips the rest of a name that contains letters beyond U+FFFF. */
  #skipNonAsciiName(start: number): number {
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
    return code < 128 && (characterClasses[code] as number) >= BLANK
  }

  #scanQuoted(type: 'string' | 'char', start: number): void {
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

  #scanRawString(start: number): void {
    const close = this.#source.indexOf('`', this.#at)
    if (close === -1) return this.#fail(start, 'unterminated raw quoted string')
    this.#at = close + 1
    this.#set('raw string', start)
  }

  /** Scans a number without validating it completely. The parser rejects invalid numbers that pass here. */
  #readNumber(start: number): void {
    this.#at = start
    let isValid = this.#scanNumber()
    const sign = this.#source[this.#at]
    const isComplex = isValid && (sign === '+' || sign === '-')
    if (isComplex) isValid = this.#scanNumber() && this.#source[this.#at - 1] === 'i'
    if (isValid) this.#set(isComplex ? 'complex' : 'number', start)
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
