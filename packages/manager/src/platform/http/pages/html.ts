// HTML as a tagged template that escapes every value. Text gets in unescaped only as a part of the template, or as a file that
// comes with the service.
import { readFileSync } from 'node:fs'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

class Piece {
  readonly #text: string
  constructor(parts: readonly string[], values: readonly Value[]) {
    this.#text = parts.reduce((text, part, index) => text + textOf(values[index - 1] ?? null) + part)
  }
  toString(): string {
    return this.#text
  }
}
/** A piece of a page. */
export type Html = Piece
type Value = string | number | Html | readonly Html[] | null

/** Values are texts of elements, or attributes in quotes; null is nothing. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  // An attribute without quotes ends at the first blank of its value, and a name is not a text.
  if (parts.slice(0, -1).some((part) => /[=</]\s*$/.test(part)))
    throw new Error('a value in HTML is the text of an element or stands in quotes')
  return new Piece(parts, values)
}

/** A file of the service, as it is. */
export const htmlOfFile = (file: URL): Html => new Piece([readFileSync(file, 'utf8')], [])

function textOf(value: Value): string {
  if (value === null) return ''
  if (value instanceof Piece) return value.toString()
  if (typeof value === 'object') return value.map(textOf).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}
