// The flags of a formatting directive and what they do to text, integers and floats.
import { type FloatForm, formatFloat } from './float.ts'
import { canBackquote, quote } from './quote.ts'
import { type Run } from './run.ts'
import { isPrintable } from './unicode.ts'
import { byteLength, toBytes } from './utf8.ts'

const MAX_RUNE = 0x10ffffn

/** The two digits of every byte. */
const lowerHex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const upperHex = lowerHex.map((digits) => digits.toUpperCase())

/** Formats simple values and collects the text. Long text is counted against the budget before it is made. */
export class Formatter {
  width: number | null = null
  precision: number | null = null
  minus = false
  plus = false
  sharp = false
  space = false
  zero = false
  /** %+v and %#v, where plus and sharp mean something else. */
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

  /** Whether no flag changes how a number looks. */
  isPlain(): boolean {
    return this.width === null && this.precision === null && !this.plus && !this.space && !this.sharp
  }

  /** From here on the flags are those of the verb v. */
  takeFlagsForV(): void {
    this.sharpV = this.sharp
    this.sharp = false
    this.plusV = this.plus
    this.plus = false
  }

  /** Adds text as it is. */
  write(text: string): void {
    this.run.build(text.length)
    this.text += text
  }

  /** Adds text filled up to the width, with zeros only if they may come before it. */
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

  /** Text, cut to the precision. */
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

  /** The bytes of text in hexadecimal. */
  hexString(text: string, upper: boolean): void {
    // A character has at least as many bytes as units; one more unit keeps a pair whole.
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

  /** The character of a code. */
  character(code: bigint): void {
    this.pad(runeText(code))
  }

  quotedCharacter(code: bigint): void {
    this.pad(quote(runeText(code), "'", this.plus))
  }

  /** U+0078, with # also the character itself. */
  unicode(value: bigint): void {
    const code = BigInt.asUintN(64, value)
    const digits = Math.max(this.precision ?? 4, 4)
    this.run.build(digits)
    const shown = this.sharp && code <= MAX_RUNE && isPrintable(Number(code))
    const hex = code.toString(16).toUpperCase().padStart(digits, '0')
    this.pad(`U+${hex}${shown ? ` '${runeText(code)}'` : ''}`, false)
  }

  /** An integer in some base; verb O writes its prefix with any flags. */
  integer(value: bigint, base: 2 | 8 | 10 | 16, verb: string): void {
    if (this.precision === 0 && value === 0n) return this.pad('', false)
    const negative = value < 0n
    const sign = negative ? '-' : this.plus ? '+' : this.space ? ' ' : ''
    let least = this.precision ?? 0
    // Zeros before the number count as digits, so they are not added to a given precision.
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

  /** A float; the precision is what the verb takes when none is given. */
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

  /** A sign comes before the zeros that fill the width. */
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
  // Everything from the first digit that is not zero counts, in hexadecimal the x of the prefix too.
  const first = mantissa.search(/[^0.]/)
  if (first !== -1) missing -= mantissa.slice(first).replace('.', '').length
  if (!mantissa.includes('.')) {
    if (mantissa === '0') missing--
    mantissa += '.'
  }
  return mantissa + '0'.repeat(Math.max(missing, 0)) + tail
}

/** The text of a code, U+FFFD when there is no such character. */
function runeText(code: bigint): string {
  if (code < 0n || code > MAX_RUNE || (code >= 0xd800n && code <= 0xdfffn)) return '\ufffd'
  return String.fromCodePoint(Number(code))
}

/** The number of characters, a byte that is not UTF-8 counted as one. */
function runeCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0xd800 && code < 0xdc00) count--
  }
  return count
}
