// Converts values to text, as Go's fmt prints them for a verb.
import { fail } from './errors.ts'
import { shortestFloat } from './float.ts'
import { Formatter } from './format.ts'
import { type Run } from './run.ts'
import { joinBytes } from './utf8.ts'
import { type Entries, Int, Named, type Value, element, entry, isList, isMap, typeName } from './value.ts'

/** The maximum depth of printed lists and maps. It also ends the printing of data that contains itself. */
const MAX_DEPTH = 500
/** Go prints the memory address of a list or map. There is none here, so this constant is printed. */
const ADDRESS = 0xc000000000n

/** Writes a value to the output as an action does. */
export function printTo(run: Run, value: Value): void {
  run.write(
    value === undefined || value === null ? '<no value>' : (simpleText(value, run) ?? sprint([value], run)),
  )
}

/** Returns the text of a value that needs no recursion, or null for other values. */
function simpleText(value: Value, run: Run): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return floatText(value, run)
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : null
}

function floatText(value: number, run: Run): string {
  const text = shortestFloat(value)
  run.watch?.onNumber(run, value, text)
  return text
}

/** Joins the values, with a space between two values if neither is a string. */
export function sprint(values: readonly Value[], run: Run): string {
  const printer = new Printer(run)
  let spaced = false
  for (const value of values) {
    const isString = typeof value === 'string'
    if (spaced && !isString) printer.write(' ')
    printer.argument(value, 'v')
    spaced = !isString
  }
  return joinBytes(printer.text)
}

/** Joins the values with spaces and adds a line feed. */
export function sprintln(values: readonly Value[], run: Run): string {
  const printer = new Printer(run)
  values.forEach((value, index) => {
    if (index > 0) printer.write(' ')
    printer.argument(value, 'v')
  })
  printer.write('\n')
  return joinBytes(printer.text)
}

/** Prints values by verb. */
export class Printer extends Formatter {
  /** While a wrong verb is reported, values are printed without their methods. */
  #reporting = false

  /** Prints an argument of print or printf. */
  argument(value: Value, verb: string): void {
    if (value === undefined || value === null) {
      if (verb === 'v' || verb === 'T') this.pad('<nil>')
      else this.write(`%!${verb}(<nil>)`)
    } else if (verb === 'T') this.string(typeName(value))
    else if (verb === 'p') this.#pointer(value)
    else this.#value(value, verb, 0)
  }

  #value(value: Value, verb: string, depth: number): void {
    if (typeof value === 'string') this.#string(value, value, verb)
    else if (typeof value === 'number') this.#float(value, verb)
    else if (typeof value === 'bigint') this.#integer(value, value, verb)
    else if (typeof value === 'boolean') this.#boolean(value, verb)
    else this.#composite(value, verb, depth)
  }

  #boolean(value: boolean, verb: string): void {
    if (verb === 't' || verb === 'v') this.boolean(value)
    else this.#wrongVerb(value, verb)
  }

  #composite(value: Value, verb: string, depth: number): void {
    if (value instanceof Named) return this.#named(value, verb)
    // Errors cannot be wrapped here, so this verb is rejected for the whole value.
    if (verb === 'w') return this.#wrongVerb(value, verb)
    if (depth > MAX_DEPTH) return fail(`a value is nested more than ${MAX_DEPTH} deep`)
    if (isList(value)) this.#list(value, verb, depth)
    else if (isMap(value)) this.#map(value, verb, depth)
  }

  #string(text: string, value: Value, verb: string): void {
    switch (verb) {
      case 'v':
        return this.sharpV ? this.quoted(text) : this.string(text)
      case 's':
        return this.string(text)
      case 'q':
        return this.quoted(text)
      case 'x':
      case 'X':
        return this.hexString(text, verb === 'X')
      default:
        return this.#wrongVerb(value, verb)
    }
  }

  #integer(integer: bigint, value: Value, verb: string): void {
    switch (verb) {
      case 'v':
        return value instanceof Int && this.sharpV && !value.signed
          ? this.#hexInteger(integer, true)
          : this.integer(integer, 10, verb)
      case 'd':
        return this.integer(integer, 10, verb)
      case 'b':
        return this.integer(integer, 2, verb)
      case 'o':
      case 'O':
        return this.integer(integer, 8, verb)
      case 'x':
      case 'X':
        return this.integer(integer, 16, verb)
      case 'c':
        return this.character(integer)
      case 'q':
        return this.quotedCharacter(integer)
      case 'U':
        return this.unicode(integer)
      default:
        return this.#wrongVerb(value, verb)
    }
  }

  #hexInteger(value: bigint, prefixed: boolean): void {
    const { sharp } = this
    this.sharp = prefixed
    this.integer(value, 16, 'v')
    this.sharp = sharp
  }

  #float(value: number, verb: string): void {
    if (verb === 'v' && this.isPlain()) return this.write(floatText(value, this.run))
    switch (verb) {
      case 'v':
        return this.float(value, 'g', -1)
      case 'b':
      case 'g':
      case 'G':
      case 'x':
      case 'X':
        return this.float(value, verb, -1)
      case 'e':
      case 'E':
      case 'f':
        return this.float(value, verb, 6)
      case 'F':
        return this.float(value, 'f', 6)
      default:
        return this.#wrongVerb(value, verb)
    }
  }

  /** A value with methods prints itself where a string is allowed. */
  #named(value: Named, verb: string): void {
    if (!this.#reporting) {
      if (verb === 'w') return this.#wrongVerb(value, verb)
      const source = this.sharpV ? value.source() : null
      if (source !== null) return this.string(source)
      const text = 'vsxXq'.includes(verb) && !this.sharpV ? value.text() : null
      if (text !== null) return this.#string(text, value, verb)
    }
    if (value instanceof Int) this.#integer(value.value, value, verb)
    else this.#struct(value, verb)
  }

  #struct(value: Named, verb: string): void {
    this.write('{')
    value.parts().forEach(([name, part], index) => {
      if (index > 0) this.write(' ')
      if (this.plusV) this.write(`${name}:`)
      if (part === null) this.#nilPointer(verb)
      else this.#integer(part.value, part, verb)
    })
    this.write('}')
  }

  #nilPointer(verb: string): void {
    if (verb === 'v') this.pad('<nil>')
    else if ('bodxX'.includes(verb)) this.#integer(0n, 0n, verb)
    else {
      this.write(`%!${verb}(*time.Location=`)
      this.pad('<nil>')
      this.write(')')
    }
  }

  #list(list: readonly unknown[], verb: string, depth: number): void {
    this.run.step(list.length)
    this.write(this.sharpV ? '[]interface {}{' : '[')
    for (let i = 0; i < list.length; i++) {
      if (i > 0) this.write(this.sharpV ? ', ' : ' ')
      this.#element(element(list, i), verb, depth)
    }
    this.write(this.sharpV ? '}' : ']')
  }

  #map(map: Entries, verb: string, depth: number): void {
    this.write(this.sharpV ? 'map[string]interface {}{' : 'map[')
    const keys = this.run.keys(map)
    this.run.step(keys.length)
    keys.forEach((key, index) => {
      if (index > 0) this.write(this.sharpV ? ', ' : ' ')
      this.#string(key, key, verb)
      this.write(':')
      this.#element(entry(map, key), verb, depth)
    })
    this.write(this.sharpV ? '}' : ']')
  }

  #element(value: Value, verb: string, depth: number): void {
    if (value === undefined || value === null) this.write(this.sharpV ? 'interface {}(nil)' : '<nil>')
    else this.#value(value, verb, depth + 1)
  }

  #pointer(value: Value): void {
    if (isList(value) || isMap(value)) this.#hexInteger(ADDRESS, !this.sharp)
    else this.#wrongVerb(value, 'p')
  }

  #wrongVerb(value: Value, verb: string): void {
    this.#reporting = true
    this.write(`%!${verb}(${typeName(value)}=`)
    this.#value(value, 'v', 0)
    this.write(')')
    this.#reporting = false
  }
}
