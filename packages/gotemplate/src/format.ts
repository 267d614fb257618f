// Formats text, integers and floats with the flags of a formatting directive.
import { type FloatForm, formatFloat } from './float.ts'
import { canBackquote, quote } from './quote.ts'
import { type Run } from './run.ts'
import { isPrintable } from './unicode.ts'
import { countBytes, toBytes } from './utf8.ts'

const MAX_RUNE = 0x10ffffn

/** The two hexadecimal digits of every byte. */
const lowerHex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const upperHex = lowerHex.map((digits) => digits.toUpperCase())

/** Formats simple values and collects the text. Long text is charged to the budget before it is built. */
export class Formatter {
  width: number | null = null
  precision: number | null = null
  minus = false
  plus = false
  sharp = false
  space = false
  zero = false
  /** Set for %+v and %#v, in which plus and sharp have a different meaning. */
  plusV = false
  sharpV = false
  text = ''
  readonly run: Run

  constructor(run: Run) {
    this.run = run
  }

  clearFlags(): void {
    this.width = null
    this.precision = null
    this.minus = false
    this.plus = false
    this.sharp = false
    this.space = false
    this.zero = false
    this.plusV = false
    this.sharpV = false
  }

  /** Returns whether no flag affects the format of a number. */
  isPlain(): boolean {
    return this.width === null && this.precision === null && !this.plus && !this.space && !this.sharp
  }

  /** Reinterprets the flags for the verb v. */
  applyFlagsForV(): void {
    this.sharpV = this.sharp
    this.sharp = false
    this.plusV = this.plus
    this.plus = false
  }

  /** Adds text unchanged. */
  write(text: string): void {
    this.run.chargeBuild(text.length)
    this.text += text
  }

  /** Adds text padded to the width. Zeros are used only if they may precede the text. */
  pad(text: string, zeros = this.zero): void {
    const padLength = this.width === null ? 0 : this.width - countRunes(text)
    if (padLength <= 0) return this.write(text)
    this.run.chargeBuild(padLength)
    const padding = (zeros ? '0' : ' ').repeat(padLength)
    this.write(this.minus ? text + padding : padding + text)
  }

  writeBoolean(value: boolean): void {
    this.pad(String(value))
  }

  /** Adds text, truncated to the precision. */
  writeString(text: string): void {
    this.pad(this.#truncate(text))
  }

  writeQuoted(text: string): void {
    const truncatedText = this.#truncate(text)
    this.run.chargeBuild(truncatedText.length)
    if (this.sharp && canBackquote(truncatedText)) this.pad(`\`${truncatedText}\``)
    else this.pad(quote(truncatedText, '"', this.plus))
  }

  #truncate(text: string): string {
    if (this.precision === null || text.length <= this.precision) return text
    let count = 0
    let end = 0
    for (const character of text) {
      if (++count > this.precision) return text.slice(0, end)
      end += character.length
    }
    return text
  }

  /** Adds the bytes of the text in hexadecimal. */
  writeHexString(text: string, isUpperCase: boolean): void {
    // A character has at least as many bytes as UTF-16 units. The extra unit avoids splitting a surrogate
    // pair.
    const part = this.precision === null ? text : text.slice(0, this.precision + 1)
    this.run.chargeBuild(countBytes(part) * 5)
    const bytes = toBytes(part).subarray(0, this.precision ?? undefined)
    const prefix = this.sharp ? (isUpperCase ? '0X' : '0x') : ''
    const separator = this.space ? ` ${prefix}` : ''
    const table = isUpperCase ? upperHex : lowerHex
    let hex = ''
    for (let i = 0; i < bytes.length; i++)
      hex += (i === 0 ? prefix : separator) + (table[bytes[i] ?? 0] ?? '')
    this.pad(hex)
  }

  /** Adds the character with this code point. */
  writeCharacter(code: bigint): void {
    this.pad(formatRune(code))
  }

  writeQuotedCharacter(code: bigint): void {
    this.pad(quote(formatRune(code), "'", this.plus))
  }

  /** Adds U+ and the hexadecimal code point, as in U+0078; with #, also adds the character. */
  writeUnicode(value: bigint): void {
    const code = BigInt.asUintN(64, value)
    const digits = Math.max(this.precision ?? 4, 4)
    this.run.chargeBuild(digits)
    const isShown = this.sharp && code <= MAX_RUNE && isPrintable(Number(code))
    const hex = code.toString(16).toUpperCase().padStart(digits, '0')
    this.pad(`U+${hex}${isShown ? ` '${formatRune(code)}'` : ''}`, false)
  }

  /** Adds an integer in a base. The verb O always writes its prefix. */
  writeInteger(value: bigint, base: 2 | 8 | 10 | 16, verb: string): void {
    if (this.precision === 0 && value === 0n) return this.pad('', false)
    const isNegative = value < 0n
    const sign = isNegative ? '-' : this.plus ? '+' : this.space ? ' ' : ''
    let minDigits = this.precision ?? 0
    // Padding zeros count as digits, so none are added if a precision is given.
    if (this.precision === null && this.zero && this.width !== null) minDigits = this.width - sign.length
    this.run.chargeBuild(Math.max(minDigits, 0))
    let digits = (isNegative ? -value : value).toString(base).padStart(minDigits, '0')
    if (this.sharp) {
      if (base === 2) digits = `0b${digits}`
      else if (base === 16) digits = `0x${digits}`
      else if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`
    }
    if (verb === 'O') digits = `0o${digits}`
    this.pad(sign + (verb === 'X' ? digits.toUpperCase() : digits), false)
  }

  /** Adds a float. `precision` is the default precision of the verb. */
  writeFloat(value: number, form: FloatForm, precision: number): void {
    const digits = this.precision ?? precision
    this.run.chargeBuild(Math.max(digits, 0))
    const formattedText = formatFloat(value, form, digits)
    const hasSign = formattedText.startsWith('-') || formattedText.startsWith('+')
    let number = hasSign ? formattedText.slice(1) : formattedText
    let sign = hasSign ? formattedText.slice(0, 1) : '+'
    if (this.space && sign === '+' && !this.plus) sign = ' '
    if (number === 'Inf' || number === 'NaN') {
      const isBare = number === 'NaN' && !this.space && !this.plus
      return this.pad(isBare ? number : sign + number, false)
    }
    if (this.sharp && form !== 'b') number = addPoint(number, form, digits)
    if (!this.plus && sign === '+') return this.pad(number)
    this.#padSigned(sign, number)
  }

  /** Writes the sign before the zeros that pad the width. */
  #padSigned(sign: string, number: string): void {
    const padLength = (this.width ?? 0) - number.length - 1
    if (!this.zero || padLength <= 0) return this.pad(sign + number)
    this.run.chargeBuild(padLength)
    this.write(sign + '0'.repeat(padLength) + number)
  }
}

/** Adds the decimal point and the trailing zeros that %g omits. The flag # requires both. */
function addPoint(number: string, form: FloatForm, precision: number): string {
  const isHex = form === 'x' || form === 'X'
  const exponentAt = number.search(isHex ? /[pP]/ : /[eE]/)
  const exponent = exponentAt === -1 ? '' : number.slice(exponentAt)
  let mantissa = exponentAt === -1 ? number : number.slice(0, exponentAt)
  let padLength = form === 'g' || form === 'G' || form === 'x' ? (precision === -1 ? 6 : precision) : 0
  // Every digit from the first nonzero digit on reduces the padding, and so does the x of a hexadecimal prefix.
  const firstDigitAt = mantissa.search(/[^0.]/)
  if (firstDigitAt !== -1) padLength -= mantissa.slice(firstDigitAt).replace('.', '').length
  if (!mantissa.includes('.')) {
    if (mantissa === '0') padLength--
    mantissa += '.'
  }
  return mantissa + '0'.repeat(Math.max(padLength, 0)) + exponent
}

/** Returns the character with this code point, or U+FFFD if no such character exists. */
function formatRune(code: bigint): string {
  if (code < 0n || code > MAX_RUNE || (code >= 0xd800n && code <= 0xdfffn)) return '\ufffd'
  return String.fromCodePoint(Number(code))
}

/** Counts characters. A byte that is not valid UTF-8 counts as one character. */
function countRunes(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xdc00) count--
  }
  return count
}
