// Implements printf: reads a format and prints its arguments directive by directive.
import { Printer } from './print.ts'
import { type Run } from './run.ts'
import { joinBytes } from './utf8.ts'
import { Int, type Value, getTypeName } from './value.ts'

const MAX_SIZE = 1_000_000

/** Formats the arguments as Go's fmt.Sprintf does. */
export function sprintf(format: string, args: readonly Value[], run: Run): string {
  const reader = new FormatReader(format, args, run)
  reader.read()
  return joinBytes(reader.printer.text)
}

class FormatReader {
  readonly printer: Printer
  readonly #format: string
  readonly #args: readonly Value[]
  #at = 0
  #argumentIndex = 0
  /** Whether a directive has selected its argument by number. If so, unused arguments are not an error. */
  #isReordered = false
  #isNumberValid = true
  /** Whether an argument number directly precedes the current position. */
  #isAfterNumber = false

  constructor(format: string, args: readonly Value[], run: Run) {
    this.#format = format
    this.#args = args
    this.printer = new Printer(run)
  }

  read(): void {
    for (;;) {
      const percent = this.#format.indexOf('%', this.#at)
      const end = percent === -1 ? this.#format.length : percent
      if (end > this.#at) this.printer.write(this.#format.slice(this.#at, end))
      if (percent === -1) break
      this.#at = percent + 1
      if (!this.#readDirective()) break
    }
    if (!this.#isReordered && this.#argumentIndex < this.#args.length) this.#printExtraArguments()
  }

  /** Reads one directive after its percent sign. Returns false at the end of the format. */
  #readDirective(): boolean {
    this.#isNumberValid = true
    this.#isAfterNumber = false
    this.#readFlags()
    this.#readArgumentNumber()
    this.#readWidth()
    this.#readPrecision()
    if (!this.#isAfterNumber) this.#readArgumentNumber()
    const code = this.#format.codePointAt(this.#at)
    if (code === undefined) {
      this.printer.write('%!(NOVERB)')
      return false
    }
    this.#at += code > 0xffff ? 2 : 1
    this.#print(code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code))
    return true
  }

  #print(verb: string): void {
    if (verb === '%') this.printer.write('%')
    else if (!this.#isNumberValid) this.printer.write(`%!${verb}(BADINDEX)`)
    else if (this.#argumentIndex >= this.#args.length) this.printer.write(`%!${verb}(MISSING)`)
    else {
      if (verb === 'v') this.printer.applyFlagsForV()
      this.printer.printArgument(this.#args[this.#argumentIndex++], verb)
    }
  }

  #readFlags(): void {
    const { printer } = this
    printer.clearFlags()
    for (; ; this.#at++) {
      switch (this.#format[this.#at] ?? '') {
        case '#':
          printer.sharp = true
          break
        case '0':
          // Zeros are never added on the right.
          printer.zero = !printer.minus
          break
        case '+':
          printer.plus = true
          break
        case '-':
          printer.minus = true
          printer.zero = false
          break
        case ' ':
          printer.space = true
          break
        default:
          return
      }
    }
  }

  /** Reads an argument number such as [2]. */
  #readArgumentNumber(): void {
    this.#isAfterNumber = false
    if (this.#format[this.#at] !== '[') return
    this.#isReordered = true
    const closeAt = this.#format.indexOf(']', this.#at + 1)
    if (closeAt === -1 || this.#at + 3 > this.#format.length) {
      this.#isNumberValid = false
      this.#at += 1
      return
    }
    const numberText = this.#format.slice(this.#at + 1, closeAt)
    const number =
      /^[0-9]+$/.test(numberText) && Number(numberText) <= MAX_SIZE * 10 + 9 ? Number(numberText) : null
    this.#at = closeAt + 1
    if (number !== null && number >= 1 && number <= this.#args.length) this.#argumentIndex = number - 1
    else this.#isNumberValid = false
    this.#isAfterNumber = number !== null
  }

  #readWidth(): void {
    const { printer } = this
    if (this.#format[this.#at] === '*') {
      this.#at++
      const width = this.#readSizeArgument()
      if (width === null) printer.write('%!(BADWIDTH)')
      else {
        printer.width = Math.abs(width)
        if (width < 0) {
          printer.minus = true
          printer.zero = false
        }
      }
      this.#isAfterNumber = false
      return
    }
    printer.width = this.#readSize()
    if (this.#isAfterNumber && printer.width !== null) this.#isNumberValid = false
  }

  #readPrecision(): void {
    const { printer } = this
    // A point at the very end of the format is a verb.
    if (this.#format[this.#at] !== '.' || this.#at + 1 >= this.#format.length) return
    this.#at++
    if (this.#isAfterNumber) this.#isNumberValid = false
    this.#readArgumentNumber()
    if (this.#format[this.#at] !== '*') {
      printer.precision = this.#readSize() ?? 0
      return
    }
    this.#at++
    const precision = this.#readSizeArgument()
    if (precision === null || precision < 0) printer.write('%!(BADPREC)')
    else printer.precision = precision
    this.#isAfterNumber = false
  }

  /**
   * Reads a number. Returns null if there is none. A number that is far too large consumes the rest of the
   * format.
   */
  #readSize(): number | null {
    let size: number | null = null
    for (;;) {
      const digit = this.#format.charCodeAt(this.#at) - 48
      if (!(digit >= 0 && digit <= 9)) return size
      if (size !== null && size > MAX_SIZE) {
        this.#at = this.#format.length
        return null
      }
      size = (size ?? 0) * 10 + digit
      this.#at++
    }
  }

  /** Reads the next argument as a width or precision. Returns null if it is not a valid size. */
  #readSizeArgument(): number | null {
    if (this.#argumentIndex >= this.#args.length) return null
    const value = this.#args[this.#argumentIndex++]
    const size = value instanceof Int ? value.value : value
    if (typeof size !== 'bigint' || size > MAX_SIZE || size < -MAX_SIZE) return null
    return Number(size)
  }

  #printExtraArguments(): void {
    const { printer } = this
    printer.clearFlags()
    printer.write('%!(EXTRA ')
    this.#args.slice(this.#argumentIndex).forEach((value, index) => {
      if (index > 0) printer.write(', ')
      if (value === null || value === undefined) printer.write('<nil>')
      else {
        printer.write(`${getTypeName(value)}=`)
        printer.printArgument(value, 'v')
      }
    })
    printer.write(')')
  }
}
