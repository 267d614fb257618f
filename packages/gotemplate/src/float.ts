// Formats a float64 in every form of Go's strconv.FormatFloat: exact, rounded to even, or shortest if no
// precision is given.

/** The digits of a number: the value is 0.DIGITS times ten to the power of `point`. */
interface Decimal {
  readonly digits: string
  readonly point: number
}

export type FloatForm = 'e' | 'E' | 'f' | 'g' | 'G' | 'b' | 'x' | 'X'

/** Formats a float64. Precision -1 requests the fewest digits that distinguish it from its neighbors. */
export function formatFloat(value: number, form: FloatForm, precision: number): string {
  if (Number.isNaN(value)) return 'NaN'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const magnitude = Math.abs(value)
  if (magnitude === Number.POSITIVE_INFINITY) return sign === '-' ? '-Inf' : '+Inf'
  switch (form) {
    case 'b':
      return sign + formatBinary(magnitude)
    case 'x':
    case 'X': {
      const text = formatHexadecimal(magnitude, precision)
      return sign + (form === 'X' ? text.toUpperCase() : text)
    }
    case 'e':
    case 'E':
      return sign + formatExponential(magnitude, form, precision)
    case 'f':
      return sign + formatFixed(magnitude, precision)
    case 'g':
    case 'G':
      return sign + formatGeneral(magnitude, form, precision)
  }
}

/** Formats a float64 as `print` does: %g with the fewest digits. */
export function formatShortestFloat(value: number): string {
  const magnitude = Math.abs(value)
  // In this range, JavaScript writes the same digits and no exponent.
  if (magnitude >= 1e-4 && magnitude < 1e6) return String(value)
  return formatFloat(value, 'g', -1)
}

function formatExponential(value: number, form: 'e' | 'E', precision: number): string {
  const decimal =
    precision < 0 ? getShortestDecimal(value) : roundDecimal(getExactDecimal(value), precision + 1)
  return writeExponential(decimal, precision < 0 ? Math.max(decimal.digits.length - 1, 0) : precision, form)
}

function writeExponential({ digits, point }: Decimal, precision: number, form: 'e' | 'E'): string {
  const mantissa = digits.padEnd(precision + 1, '0').slice(0, precision + 1)
  const fraction = precision > 0 ? `.${mantissa.slice(1)}` : ''
  const exponent = digits === '' ? 0 : point - 1
  return `${mantissa.slice(0, 1)}${fraction}${form}${formatExponent(exponent)}`
}

/** Formats an exponent with its sign and at least two digits. */
const formatExponent = (exponent: number): string =>
  `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`

function formatFixed(value: number, precision: number): string {
  if (precision < 0) {
    const decimal = getShortestDecimal(value)
    return writeFixed(decimal, Math.max(decimal.digits.length - decimal.point, 0))
  }
  if (isPlainFixed(value, precision)) return value.toFixed(precision)
  const decimal = getExactDecimal(value)
  return writeFixed(roundDecimal(decimal, decimal.point + precision), precision)
}

/** Returns whether toFixed rounds as Go does. It rounds ties up; a tie is an odd multiple of 2 ** -(precision + 1). */
function isPlainFixed(value: number, precision: number): boolean {
  if (precision > 100 || value >= 1e21) return false
  const scaled = value * 2 ** precision
  return Number.isInteger(scaled) || !Number.isInteger(scaled * 2)
}

function writeFixed({ digits, point }: Decimal, precision: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0'
  if (precision === 0) return whole
  const zeros = point < 0 ? '0'.repeat(Math.min(-point, precision)) : ''
  const fraction = zeros + digits.slice(Math.max(point, 0))
  return `${whole}.${fraction.padEnd(precision, '0').slice(0, precision)}`
}

function formatGeneral(value: number, form: 'g' | 'G', precision: number): string {
  const decimal =
    precision < 0 ? getShortestDecimal(value) : roundDecimal(getExactDecimal(value), Math.max(precision, 1))
  const count = decimal.digits.length
  const exponent = decimal.point - 1
  let threshold = precision === 0 ? 1 : precision
  if (threshold > count && count >= decimal.point) threshold = count
  if (precision < 0) threshold = 6
  if (exponent < -4 || exponent >= threshold)
    return writeExponential(decimal, Math.max(count - 1, 0), form === 'g' ? 'e' : 'E')
  return writeFixed(decimal, Math.max(count - decimal.point, 0))
}

/** Returns the fewest digits that parse to the same number. JavaScript prints exactly these digits. */
function getShortestDecimal(value: number): Decimal {
  if (value === 0) return { digits: '', point: 0 }
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 }
}

/**
 * Returns all digits of the number. Every float64 is an integer times a power of two, so it has finitely many
 * digits.
 */
function getExactDecimal(value: number): Decimal {
  if (value === 0) return { digits: '', point: 0 }
  const { mantissa, exponent } = splitFloat(value)
  if (exponent >= 0) {
    const digits = String(mantissa << BigInt(exponent))
    return { digits: trimZeros(digits), point: digits.length }
  }
  // m / 2 ** k is m * 5 ** k / 10 ** k.
  const digits = String(mantissa * 5n ** BigInt(-exponent))
  return { digits: trimZeros(digits), point: digits.length + exponent }
}

function trimZeros(digits: string): string {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.slice(0, end)
}

/** Rounds the number to at most this many digits: to the nearest value, with ties to even. */
function roundDecimal({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point }
  if (count < 0) return { digits: '', point: 0 }
  const leadingDigits = digits.slice(0, count)
  const nextDigit = digits.charCodeAt(count) - 48
  const isTie = nextDigit === 5 && count + 1 === digits.length
  const isLastOdd = count > 0 && (digits.charCodeAt(count - 1) & 1) === 1
  if (nextDigit < 5 || (isTie && !isLastOdd)) {
    const trimmedDigits = trimZeros(leadingDigits)
    return { digits: trimmedDigits, point: trimmedDigits === '' ? 0 : point }
  }
  const incrementedDigits = String(BigInt(leadingDigits === '' ? '0' : leadingDigits) + 1n).padStart(
    count,
    '0',
  )
  return { digits: trimZeros(incrementedDigits), point: incrementedDigits.length > count ? point + 1 : point }
}

const bits = new DataView(new ArrayBuffer(8))

/** Splits the number into an integer of at most 53 bits and a power of two. */
function splitFloat(value: number): { mantissa: bigint; exponent: number } {
  bits.setFloat64(0, value)
  const rawBits = bits.getBigUint64(0)
  const fraction = rawBits & 0xfffffffffffffn
  const biasedExponent = Number((rawBits >> 52n) & 0x7ffn)
  if (biasedExponent === 0) return { mantissa: fraction, exponent: -1074 }
  return { mantissa: fraction | (1n << 52n), exponent: biasedExponent - 1075 }
}

function formatBinary(value: number): string {
  const { mantissa, exponent } = splitFloat(value)
  return `${mantissa}p${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`
}

/** Formats %x: a hexadecimal mantissa with one digit before the point, and a power of two. */
function formatHexadecimal(value: number, precision: number): string {
  let { mantissa, exponent } = splitFloat(value)
  if (mantissa === 0n) exponent = 0
  else {
    exponent += 52
    // Shifts the leading one to bit 60. The mantissa then has 15 hexadecimal digits after the point.
    mantissa <<= 8n
    while (mantissa >> 60n === 0n) {
      mantissa <<= 1n
      exponent--
    }
  }
  if (precision >= 0 && precision < 15) {
    const shift = BigInt(precision * 4)
    const droppedBits = (mantissa << shift) & 0xfffffffffffffffn
    mantissa >>= 60n - shift
    if ((droppedBits | (mantissa & 1n)) > 1n << 59n) mantissa++
    mantissa <<= 60n - shift
    if (mantissa >> 61n !== 0n) {
      mantissa >>= 1n
      exponent++
    }
  }
  const leadingDigit = mantissa >> 60n
  const digits = (mantissa & 0xfffffffffffffffn).toString(16).padStart(15, '0')
  const fraction = precision < 0 ? trimZeros(digits) : digits.padEnd(precision, '0').slice(0, precision)
  return `0x${leadingDigit}${fraction === '' ? '' : `.${fraction}`}p${formatExponent(exponent)}`
}
