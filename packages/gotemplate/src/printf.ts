// Implements printf: reads a format and prints its arguments directive by directive.
import { Printer } from './print.ts'
import { type Run } from './run.ts'
import { joinBytes } from './utf8.ts'
import { Int, type Value, typeName } from './value.ts'

const MAX_SIZE = 1_000_000

/** Formats the arguments like Go's fmt.Sprintf. */
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
  #argument = 0
  /** Whether a directive selected its argument by number. Unused arguments are then not an error. */
  #reordered = false
  #numberIsGood = true
  /** Whether an argument number directly precedes the current position. */
  #afterNumber = false

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
      if (!this.#directive()) break
    }
    if (!this.#reordered && this.#argument < this.#args.length) this.#extra()
  }

  /** Reads one directive after its percent sign. Returns false at the end of the format. */
  #directive(): boolean {
    this.#numberIsGood = true
    this.#afterNumber = false
    this.#flags()
    this.#argumentNumber()
    this.#width()
    this.#precision()
    if (!this.#afterNumber) this.#argumentNumber()
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
    else if (!this.#numberIsGood) this.printer.write(`%!${verb}(BADINDEX)`)
    else if (this.#argument >= this.#args.length) this.printer.write(`%!${verb}(MISSING)`)
    else {
      if (verb === 'v') this.printer.takeFlagsForV()
      this.printer.argument(this.#args[this.#argument++], verb)
    }
  }

  #flags(): void {
    const { printer } = this
    printer.clearFlags()
    for (; ; this.#at++) {
      switch (this.#format[this.#at] ?? '') {
        case '#':
          printer.sharp = true
          break
        case '0':
          // Zeros are never added to the right.
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
  #argumentNumber(): void {
    this.#afterNumber = false
    if (this.#format[this.#at] !== '[') return
    this.#reordered = true
    const close = this.#format.indexOf(']', this.#at + 1)
    if (close === -1 || this.#at + 3 > this.#format.length) {
      this.#numberIsGood = false
      this.#at += 1
      return
    }
    const inside = this.#format.slice(this.#at + 1, close)
    const number = /^[0-9]+$/.test(inside) && Number(inside) <= MAX_SIZE * 10 + 9 ? Number(inside) : null
    this.#at = close + 1
    if (number !== null && number >= 1 && number <= this.#args.length) this.#argument = number - 1
    else this.#numberIsGood = false
    this.#afterNumber = number !== null
  }

  #width(): void {
    const { printer } = this
    if (this.#format[this.#at] === '*') {
      this.#at++
      const width = this.#sizeArgument()
      if (width === null) printer.write('%!(BADWIDTH)')
      else {
        printer.width = Math.abs(width)
        if (width < 0) {
          printer.minus = true
          printer.zero = false
        }
      }
      this.#afterNumber = false
      return
    }
    printer.width = this.#size()
    if (this.#afterNumber && printer.width !== null) this.#numberIsGood = false
  }

  #precision(): void {
    const { printer } = this
    // A point at the very end is a verb.
    if (this.#format[this.#at] !== '.' || this.#at + 1 >= this.#format.length) return
    this.#at++
    if (this.#afterNumber) this.#numberIsGood = false
    this.#argumentNumber()
    if (this.#format[this.#at] !== '*') {
      printer.precision = this.#size() ?? 0
      return
    }
    this.#at++
    const precision = this.#sizeArgument()
    if (precision === null || precision < 0) printer.write('%!(BADPREC)')
    else printer.precision = precision
    this.#afterNumber = false
  }

  /** Reads a number, or returns null. A number that is far too large consumes the rest of the format. */
  #size(): number | null {
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

  /** Returns the next argument as a width or precision, or null if it is not valid as one. */
  #sizeArgument(): number | null {
    if (this.#argument >= this.#args.length) return null
    const value = this.#args[this.#argument++]
    const size = value instanceof Int ? value.value : value
    if (typeof size !== 'bigint' || size > MAX_SIZE || size < -MAX_SIZE) return null
    return Number(size)
  }

  #extra(): void {
    const { printer } = this
    printer.clearFlags()
    printer.write('%!(EXTRA ')
    this.#args.slice(this.#argument).forEach((value, index) => {
      if (index > 0) printer.write(', ')
      if (value === null || value === undefined) printer.write('<nil>')
      else {
        printer.write(`${typeName(value)}=`)
        printer.argument(value, 'v')
      }
    })
    printer.write(')')
  }
}
