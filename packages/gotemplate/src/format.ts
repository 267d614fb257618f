// The flags of a formatting directive, and their effect on text, integers and floats.
import { type FloatForm, formatFloat } from './float.ts'
import { canBackquote, quote } from './quote.ts'
import { type Run } from './run.ts'
import { isPrintable } from './unicode.ts'
import { byteLength, toBytes } from './utf8.ts'

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
  /** Set for %+v and %#v, where plus and sharp have another meaning. */
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

  /** Whether no flag affects the format of a number. */
  isPlain(): boolean {
    return this.width === null && this.precision === null && !this.plus && !this.space && !this.sharp
  }

  /** Reinterprets the flags for the verb v. */
  takeFlagsForV(): void {
    this.sharpV = this.sharp
    this.sharp = false
    this.plusV = this.plus
    this.plus = false
  }

  /** Adds text unchanged. */
  write(text: string): void {
    this.run.build(text.length)
    this.text += text
  }

  /** Adds text padded to the width, with zeros only if they may precede it. */
  pad(text: string, zeros = this.zero): void {
    const missing = this.width === null ? 0 : this.width - runeCount(text)
    if (missing <= 0) return this.write(text)
    this.run.build(missing)
    const filling = (zeros ? '0' : ' ').repeat(missing)
    this.write(this.minus ? text + filling : filling + text)
  }

  boolean(value: boolean): void {
    this.pad(String(value))
  }

  /** Adds text, truncated to the precision. */
  string(text: string): void {
    this.pad(this.#truncate(text))
  }

  quoted(text: string): void {
    const cut = this.#truncate(text)
    this.run.build(cut.length)
    if (this.sharp && canBackquote(cut)) this.pad(`\`${cut}\``)
    else this.pad(quote(cut, '"', this.plus))
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
  hexString(text: string, upper: boolean): void {
    // A character has at least as many bytes as UTF-16 units. One more unit keeps a surrogate pair whole.
    const part = this.precision === null ? text : text.slice(0, this.precision + 1)
    this.run.build(byteLength(part) * 5)
    const bytes = toBytes(part).subarray(0, this.precision ?? undefined)
    const prefix = this.sharp ? (upper ? '0X' : '0x') : ''
    const separator = this.space ? ` ${prefix}` : ''
    const table = upper ? upperHex : lowerHex
    let hex = ''
    for (let i = 0; i < bytes.length; i++)
      hex += (i === 0 ? prefix : separator) + (table[bytes[i] ?? 0] ?? '')
    this.pad(hex)
  }

  /** Adds the character with this code point. */
  character(code: bigint): void {
    this.pad(runeText(code))
  }

  quotedCharacter(code: bigint): void {
    this.pad(quote(runeText(code), "'", this.plus))
  }

  /** Adds U+0078, and with # also the character itself. */
  unicode(value: bigint): void {
    const code = BigInt.asUintN(64, value)
    const digits = Math.max(this.precision ?? 4, 4)
    this.run.build(digits)
    const shown = this.sharp && code <= MAX_RUNE && isPrintable(Number(code))
    const hex = code.toString(16).toUpperCase().padStart(digits, '0')
    this.pad(`U+${hex}${shown ? ` '${runeText(code)}'` : ''}`, false)
  }

  /** Adds an integer in a base. The verb O always writes its prefix. */
  integer(value: bigint, base: 2 | 8 | 10 | 16, verb: string): void {
    if (this.precision === 0 && value === 0n) return this.pad('', false)
    const negative = value < 0n
    const sign = negative ? '-' : this.plus ? '+' : this.space ? ' ' : ''
    let least = this.precision ?? 0
    // Padding zeros count as digits, so they are not added to a given precision.
    if (this.precision === null && this.zero && this.width !== null) least = this.width - sign.length
    this.run.build(Math.max(least, 0))
    let digits = (negative ? -value : value).toString(base).padStart(least, '0')
    if (this.sharp) {
      if (base === 2) digits = `0b${digits}`
      else if (base === 16) digits = `0x${digits}`
      else if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`
    }
    if (verb === 'O') digits = `0o${digits}`
    this.pad(sign + (verb === 'X' ? digits.toUpperCase() : digits), false)
  }

  /** Adds a float. `precision` is the default of the verb. */
  float(value: number, form: FloatForm, precision: number): void {
    const digits = this.precision ?? precision
    this.run.build(Math.max(digits, 0))
    const plain = formatFloat(value, form, digits)
    const signed = plain.startsWith('-') || plain.startsWith('+')
    let number = signed ? plain.slice(1) : plain
    let sign = signed ? plain.slice(0, 1) : '+'
    if (this.space && sign === '+' && !this.plus) sign = ' '
    if (number === 'Inf' || number === 'NaN') {
      const bare = number === 'NaN' && !this.space && !this.plus
      return this.pad(bare ? number : sign + number, false)
    }
    if (this.sharp && form !== 'b') number = withPoint(number, form, digits)
    if (!this.plus && sign === '+') return this.pad(number)
    this.#padSigned(sign, number)
  }

  /** Writes the sign before the zeros that pad the width. */
  #padSigned(sign: string, number: string): void {
    const missing = (this.width ?? 0) - number.length - 1
    if (!this.zero || missing <= 0) return this.pad(sign + number)
    this.run.build(missing)
    this.write(sign + '0'.repeat(missing) + number)
  }
}

/** With #, a float keeps its point and the zeros that %g drops. */
function withPoint(number: string, form: FloatForm, precision: number): string {
  const isHex = form === 'x' || form === 'X'
  const tailAt = number.search(isHex ? /[pP]/ : /[eE]/)
  const tail = tailAt === -1 ? '' : number.slice(tailAt)
  let mantissa = tailAt === -1 ? number : number.slice(0, tailAt)
  let missing = form === 'g' || form === 'G' || form === 'x' ? (precision === -1 ? 6 : precision) : 0
  // Everything from the first nonzero digit counts, including the x of a hexadecimal prefix.
  const first = mantissa.search(/[^0.]/)
  if (first !== -1) missing -= mantissa.slice(first).replace('.', '').length
  if (!mantissa.includes('.')) {
    if (mantissa === '0') missing--
    mantissa += '.'
  }
  return mantissa + '0'.repeat(Math.max(missing, 0)) + tail
}

/** Returns the text of a code point, or U+FFFD if no such character exists. */
function runeText(code: bigint): string {
  if (code < 0n || code > MAX_RUNE || (code >= 0xd800n && code <= 0xdfffn)) return '\ufffd'
  return String.fromCodePoint(Number(code))
}

/** Counts characters. A byte that is not UTF-8 counts as one. */
function runeCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xdc00) count--
  }
  return count
}
