// Reads the constants of the language: quoted text, characters, and numbers in every notation that Go
// accepts.
import { fail } from './errors.ts'
import { decodeByte, joinBytes } from './utf8.ts'

/** The value of a number constant in every type that can represent it. The context selects the type. */
export interface NumberConstant {
  /** The value as an int, or null if it is not an integer or is too large. */
  readonly int: bigint | null
  readonly float: number
  /** Whether the constant is a float64 if the context requires no type. */
  readonly isFloat: boolean
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}
const hexLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** Returns the text of a quoted string. The argument includes the quotes. */
export function unquote(quoted: string, position: number): string {
  const content = quoted.slice(1, -1)
  // Go removes carriage returns from raw strings.
  if (quoted.startsWith('`')) return content.replaceAll('\r', '')
  if (!content.includes('\\')) return content
  let text = ''
  for (let at = 0; at < content.length;) {
    const backslash = content.indexOf('\\', at)
    if (backslash === -1) return joinBytes(text + content.slice(at))
    const escape = readEscape(content, backslash, '"')
    if (escape === null) return fail('invalid escape in a quoted string', position + 1 + backslash)
    text += content.slice(at, backslash) + escape.text
    at = escape.end
  }
  return joinBytes(text)
}

/** Returns the code point of a character constant. The argument includes the quotes. */
export function readCharacter(quoted: string, position: number): number {
  const content = quoted.slice(1, -1)
  if (content.startsWith('\\')) {
    const escape = readEscape(content, 0, "'")
    if (escape !== null && escape.end === content.length) return escape.code
  } else {
    const code = content.codePointAt(0)
    if (code !== undefined && content.length === (code > 0xffff ? 2 : 1)) return code
  }
  return fail(`malformed character constant: ${quoted}; write text in double quotes`, position)
}

interface Escape {
  readonly code: number
  readonly text: string
  readonly end: number
}

function readEscape(content: string, at: number, quote: string): Escape | null {
  const letter = content[at + 1] ?? ''
  const literal = letter === quote ? quote : escapes[letter]
  if (literal !== undefined) return { code: literal.charCodeAt(0), text: literal, end: at + 2 }
  const length = hexLengths[letter]
  if (length === undefined) return readOctal(content, at)
  const digits = content.slice(at + 2, at + 2 + length)
  if (digits.length < length || !/^[0-9a-fA-F]*$/.test(digits)) return null
  const code = Number.parseInt(digits, 16)
  const end = at + 2 + length
  if (letter === 'x') return { code, text: decodeByte(code), end }
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return null
  return { code, text: String.fromCodePoint(code), end }
}

function readOctal(content: string, at: number): Escape | null {
  const digits = content.slice(at + 1, at + 4)
  if (!/^[0-7]{3}$/.test(digits)) return null
  const code = Number.parseInt(digits, 8)
  return code > 255 ? null : { code, text: decodeByte(code), end: at + 4 }
}

const MAX_INT = 2n ** 63n - 1n
const MAX_UINT = 2n ** 64n - 1n

/** Returns a character as a number constant. */
export const createCharacterConstant = (code: number): NumberConstant => ({
  int: BigInt(code),
  float: code,
  isFloat: false,
})

// Matches most numbers, for which readNumber has a fast path, because a template may contain very many numbers.
const plainNumber = /^[1-9][0-9]{0,14}$/

/** Reads a number. Fails if the text is not a number, is too large, or is imaginary. */
export function readNumber(text: string, position: number): NumberConstant {
  if (plainNumber.test(text)) return { int: BigInt(text), float: Number(text), isFloat: false }
  if (text.endsWith('i') && isFloat(text.slice(0, -1)))
    return fail(`imaginary constants are not supported: ${text}`, position)
  const integer = readInteger(text)
  if (integer !== null && integer <= MAX_UINT && integer >= -MAX_INT - 1n) {
    // A constant with a sign must fit a signed integer. A constant without a sign may be larger.
    if (integer > MAX_INT && text.startsWith('+')) return fail(`integer overflow: ${text}`, position)
    return {
      int: integer > MAX_INT ? null : integer,
      float: Number(integer),
      // Go treats -0x1e as a float: an e makes the constant a float unless the text starts with 0x.
      isFloat: /[.eEpP]/.test(text) && !/^0[xX]/.test(text),
    }
  }
  const float = isFloat(text) ? readFloat(text) : Number.NaN
  if (!Number.isFinite(float)) return fail(`illegal number syntax: ${text}`, position)
  if (!/[.eEpP]/.test(text)) return fail(`integer overflow: ${text}`, position)
  const isIntegral = Number.isInteger(float) && float >= -(2 ** 63) && float < 2 ** 63
  return { int: isIntegral ? BigInt(float) : null, float, isFloat: true }
}

/** Reads an integer with sign, prefix and underscores. Returns null for other text. */
function readInteger(text: string): bigint | null {
  const match = /^([+-]?)(0[xX]|0[oO]|0[bB]|0(?=[0-9_]))?([0-9a-fA-F_]+)$/.exec(text)
  if (match === null || !areUnderscoresValid(text)) return null
  const [, sign, prefix = '', spelled = ''] = match
  const digits = spelled.replaceAll('_', '').replace(/^0+(?=.)/, '')
  const base = { x: 16, o: 8, b: 2, '0': 8, '': 10 }[prefix.slice(-1).toLowerCase()] ?? 10
  if (digits === '' || !hasOnlyDigits(digits, base)) return null
  // In any base, more than 64 digits exceed 64 bits, so the exact value is irrelevant.
  if (digits.length > 64) return sign === '-' ? -MAX_UINT * 2n : MAX_UINT * 2n
  const value = BigInt(base === 10 ? digits : `${{ 16: '0x', 8: '0o', 2: '0b' }[base] ?? ''}${digits}`)
  return sign === '-' ? -value : value
}

function hasOnlyDigits(digits: string, base: number): boolean {
  if (base === 16) return true
  return base === 10 ? /^[0-9]+$/.test(digits) : base === 8 ? /^[0-7]+$/.test(digits) : /^[01]+$/.test(digits)
}

const decimalFloat = /^[+-]?(?:[0-9_]+(?:\.[0-9_]*)?|\.[0-9_]+)(?:[eE][+-]?[0-9][0-9_]*)?$/
const hexFloat = /^([+-]?)0[xX]([0-9a-fA-F_]*)(?:\.([0-9a-fA-F_]*))?[pP]([+-]?[0-9][0-9_]*)$/

function isFloat(text: string): boolean {
  if (!areUnderscoresValid(text)) return false
  if (decimalFloat.test(text)) return /[0-9]/.test(text)
  const hex = hexFloat.exec(text)
  return hex !== null && /[0-9a-fA-F]/.test(`${hex[2]}${hex[3] ?? ''}`)
}

function readFloat(text: string): number {
  const plain = text.replaceAll('_', '')
  const hex = hexFloat.exec(plain)
  if (hex === null) return Number(plain)
  const [, sign, whole = '', fraction = '', exponent = '0'] = hex
  const value = scaleMantissa(BigInt(`0x0${whole}${fraction}`), Number(exponent) - 4 * fraction.length)
  return sign === '-' ? -value : value
}

/** Returns the float64 that is nearest to `mantissa * 2 ** exponent`. Ties are rounded to even. */
function scaleMantissa(mantissa: bigint, exponent: number): number {
  const bits = mantissa === 0n ? 0 : mantissa.toString(2).length
  if (bits === 0 || bits + exponent < -1075) return 0
  if (bits + exponent > 1024) return Number.POSITIVE_INFINITY
  // A float64 has 53 bits of precision. Below 2 ** -1022, it has fewer, because the last bit is always 2 ** -1074.
  const droppedBits = Math.max(bits - 53, -1074 - exponent)
  if (droppedBits <= 0) return multiplyByPowerOfTwo(Number(mantissa), exponent)
  const keptMantissa = mantissa >> BigInt(droppedBits)
  const rest = mantissa - (keptMantissa << BigInt(droppedBits))
  const half = 1n << BigInt(droppedBits - 1)
  const roundsUp = rest > half || (rest === half && keptMantissa % 2n === 1n)
  return multiplyByPowerOfTwo(Number(roundsUp ? keptMantissa + 1n : keptMantissa), exponent + droppedBits)
}

/**
 * Multiplies in two steps, because one factor may exceed the range of a float64 even if the product does not.
 */
function multiplyByPowerOfTwo(value: number, exponent: number): number {
  const firstExponent = Math.max(-1000, Math.min(1000, exponent))
  return value * 2 ** firstExponent * 2 ** (exponent - firstExponent)
}

const misplacedHexUnderscore = /(?<![0-9a-fA-F])_|_(?![0-9a-fA-F])/
const misplacedUnderscore = /(?<![0-9])_|_(?![0-9])/

/** Returns whether every underscore is between two digits. A base prefix counts as a digit. */
function areUnderscoresValid(text: string): boolean {
  if (!text.includes('_')) return true
  const body = text.replace(/^[+-]/, '')
  const withoutPrefix = body.replace(/^0[xXoObB]/, '0')
  return !(/^0[xX]/.test(body) ? misplacedHexUnderscore : misplacedUnderscore).test(withoutPrefix)
}
