// Converts values to text, as Go's fmt prints them for a verb.
import { fail } from './errors.ts'
import { formatShortestFloat } from './float.ts'
import { Formatter } from './format.ts'
import { type Run } from './run.ts'
import { joinBytes } from './utf8.ts'
import {
  type Entries,
  Int,
  Named,
  type Value,
  getElement,
  getEntry,
  isList,
  isMap,
  getTypeName,
} from './value.ts'

/** The maximum depth of printed lists and maps. The limit also stops the printing of data that contains itself. */
const MAX_DEPTH = 500
/**
 * Go prints the memory address of a list or map. JavaScript has no addresses, so this constant is printed.
 */
const ADDRESS = 0xc000000000n

/** Writes a value to the output as an action does. */
export function printTo(run: Run, value: Value): void {
  run.write(
    value === undefined || value === null ? '<no value>' : (formatSimple(value, run) ?? sprint([value], run)),
  )
}

/** Returns the text of a value that needs no recursion, or null for other values. */
function formatSimple(value: Value, run: Run): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return formatFloatAndReport(value, run)
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : null
}

function formatFloatAndReport(value: number, run: Run): string {
  const text = formatShortestFloat(value)
  run.watch?.onNumber(run, value, text)
  return text
}

/** Joins the values. Two adjacent values are separated by a space if neither is a string. */
export function sprint(values: readonly Value[], run: Run): string {
  const printer = new Printer(run)
  let isAfterValue = false
  for (const value of values) {
    const isString = typeof value === 'string'
    if (isAfterValue && !isString) printer.write(' ')
    printer.printArgument(value, 'v')
    isAfterValue = !isString
  }
  return joinBytes(printer.text)
}

/** Joins the values with spaces and adds a line feed. */
export function sprintln(values: readonly Value[], run: Run): string {
  const printer = new Printer(run)
  values.forEach((value, index) => {
    if (index > 0) printer.write(' ')
    printer.printArgument(value, 'v')
  })
  printer.write('\n')
  return joinBytes(printer.text)
}

/** Prints values by verb. */
export class Printer extends Formatter {
  /** Whether a wrong verb is being reported. In a report, values are printed without calling their methods. */
  #isReportingWrongVerb = false

  /** Prints an argument of print or printf. */
  printArgument(value: Value, verb: string): void {
    if (value === undefined || value === null) {
      if (verb === 'v' || verb === 'T') this.pad('<nil>')
      else this.write(`%!${verb}(<nil>)`)
    } else if (verb === 'T') this.writeString(getTypeName(value))
    else if (verb === 'p') this.#printPointer(value)
    else this.#printValue(value, verb, 0)
  }

  #printValue(value: Value, verb: string, depth: number): void {
    if (typeof value === 'string') this.#printString(value, value, verb)
    else if (typeof value === 'number') this.#printFloat(value, verb)
    else if (typeof value === 'bigint') this.#printInteger(value, value, verb)
    else if (typeof value === 'boolean') this.#printBoolean(value, verb)
    else this.#printComposite(value, verb, depth)
  }

  #printBoolean(value: boolean, verb: string): void {
    if (verb === 't' || verb === 'v') this.writeBoolean(value)
    else this.#printWrongVerb(value, verb)
  }

  #printComposite(value: Value, verb: string, depth: number): void {
    if (value instanceof Named) return this.#printNamed(value, verb)
    // Errors cannot be wrapped here, so this verb is rejected for the whole value.
    if (verb === 'w') return this.#printWrongVerb(value, verb)
    if (depth > MAX_DEPTH) return fail(`a value is nested more than ${MAX_DEPTH} levels deep`)
    if (isList(value)) this.#printList(value, verb, depth)
    else if (isMap(value)) this.#printMap(value, verb, depth)
  }

  #printString(text: string, value: Value, verb: string): void {
    switch (verb) {
      case 'v':
        return this.sharpV ? this.writeQuoted(text) : this.writeString(text)
      case 's':
        return this.writeString(text)
      case 'q':
        return this.writeQuoted(text)
      case 'x':
      case 'X':
        return this.writeHexString(text, verb === 'X')
      default:
        return this.#printWrongVerb(value, verb)
    }
  }

  #printInteger(integer: bigint, value: Value, verb: string): void {
    switch (verb) {
      case 'v':
        return value instanceof Int && this.sharpV && !value.isSigned
          ? this.#printHexInteger(integer, true)
          : this.writeInteger(integer, 10, verb)
      case 'd':
        return this.writeInteger(integer, 10, verb)
      case 'b':
        return this.writeInteger(integer, 2, verb)
      case 'o':
      case 'O':
        return this.writeInteger(integer, 8, verb)
      case 'x':
      case 'X':
        return this.writeInteger(integer, 16, verb)
      case 'c':
        return this.writeCharacter(integer)
      case 'q':
        return this.writeQuotedCharacter(integer)
      case 'U':
        return this.writeUnicode(integer)
      default:
        return this.#printWrongVerb(value, verb)
    }
  }

  #printHexInteger(value: bigint, hasPrefix: boolean): void {
    const { sharp } = this
    this.sharp = hasPrefix
    this.writeInteger(value, 16, 'v')
    this.sharp = sharp
  }

  #printFloat(value: number, verb: string): void {
    if (verb === 'v' && this.isPlain()) return this.write(formatFloatAndReport(value, this.run))
    switch (verb) {
      case 'v':
        return this.writeFloat(value, 'g', -1)
      case 'b':
      case 'g':
      case 'G':
      case 'x':
      case 'X':
        return this.writeFloat(value, verb, -1)
      case 'e':
      case 'E':
      case 'f':
        return this.writeFloat(value, verb, 6)
      case 'F':
        return this.writeFloat(value, 'f', 6)
      default:
        return this.#printWrongVerb(value, verb)
    }
  }

  /** Prints a value of a named type, with its String or GoString text if the verb accepts a string. */
  #printNamed(value: Named, verb: string): void {
    if (!this.#isReportingWrongVerb) {
      if (verb === 'w') return this.#printWrongVerb(value, verb)
      const source = this.sharpV ? value.source() : null
      if (source !== null) return this.writeString(source)
      const text = 'vsxXq'.includes(verb) && !this.sharpV ? value.text() : null
      if (text !== null) return this.#printString(text, value, verb)
    }
    if (value instanceof Int) this.#printInteger(value.value, value, verb)
    else this.#printStruct(value, verb)
  }

  #printStruct(value: Named, verb: string): void {
    this.write('{')
    value.parts().forEach(([name, part], index) => {
      if (index > 0) this.write(' ')
      if (this.plusV) this.write(`${name}:`)
      if (part === null) this.#printNilPointer(verb)
      else this.#printInteger(part.value, part, verb)
    })
    this.write('}')
  }

  #printNilPointer(verb: string): void {
    if (verb === 'v') this.pad('<nil>')
    else if ('bodxX'.includes(verb)) this.#printInteger(0n, 0n, verb)
    else {
      this.write(`%!${verb}(*time.Location=`)
      this.pad('<nil>')
      this.write(')')
    }
  }

  #printList(list: readonly unknown[], verb: string, depth: number): void {
    this.run.chargeSteps(list.length)
    this.write(this.sharpV ? '[]interface {}{' : '[')
    for (let i = 0; i < list.length; i++) {
      if (i > 0) this.write(this.sharpV ? ', ' : ' ')
      this.#printElement(getElement(list, i), verb, depth)
    }
    this.write(this.sharpV ? '}' : ']')
  }

  #printMap(map: Entries, verb: string, depth: number): void {
    this.write(this.sharpV ? 'map[string]interface {}{' : 'map[')
    const keys = this.run.listKeys(map)
    this.run.chargeSteps(keys.length)
    keys.forEach((key, index) => {
      if (index > 0) this.write(this.sharpV ? ', ' : ' ')
      this.#printString(key, key, verb)
      this.write(':')
      this.#printElement(getEntry(map, key), verb, depth)
    })
    this.write(this.sharpV ? '}' : ']')
  }

  #printElement(value: Value, verb: string, depth: number): void {
    if (value === undefined || value === null) this.write(this.sharpV ? 'interface {}(nil)' : '<nil>')
    else this.#printValue(value, verb, depth + 1)
  }

  #printPointer(value: Value): void {
    if (isList(value) || isMap(value)) this.#printHexInteger(ADDRESS, !this.sharp)
    else this.#printWrongVerb(value, 'p')
  }

  #printWrongVerb(value: Value, verb: string): void {
    this.#isReportingWrongVerb = true
    this.write(`%!${verb}(${getTypeName(value)}=`)
    this.#printValue(value, 'v', 0)
    this.write(')')
    this.#isReportingWrongVerb = false
  }
}
