// HTML as a tagged template that escapes every value. Only template text and the service's own files are
// inserted unescaped.
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
    this.#text = parts.reduce((text, part, index) => text + renderValue(values[index - 1] ?? null) + part)
  }
  toString(): string {
    return this.#text
  }
}
/** A piece of a page in which every value is escaped. */
export type Html = Piece
type Value = string | number | Html | readonly Html[] | null

/**
 * Builds a piece of HTML. Values must be element text or quoted attributes; other positions throw. Null
 * renders nothing.
 */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  // An unquoted attribute ends at the first space of its value, and escaping does not protect element names.
  if (parts.slice(0, -1).some((part) => /[=</]\s*$/.test(part)))
    throw new Error('values in HTML must be element text or quoted attributes')
  return new Piece(parts, values)
}

/** Returns the unescaped content of one of the service's own files. */
export const readHtmlFile = (file: URL): Html => new Piece([readFileSync(file, 'utf8')], [])

function renderValue(value: Value): string {
  if (value === null) return ''
  if (value instanceof Piece) return value.toString()
  if (typeof value === 'object') return value.map(renderValue).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}
