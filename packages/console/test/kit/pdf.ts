// Reads the text of each page of a PDF file that Chromium has written. Its objects are plain, and its fonts map codes to
// characters.
import { inflateSync } from 'node:zlib'

type PdfObject = { dictionary: string; stream: Buffer | null }
type Decode = (hex: string) => string

/** Reads the objects by their number. Streams are skipped by their length, because they can contain anything. */
function readObjects(pdf: Buffer): Map<number, PdfObject> {
  const text = pdf.toString('latin1')
  const objects = new Map<number, PdfObject>()
  const start = /(\d+) 0 obj\s/g
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const end = text.indexOf('endobj', start.lastIndex)
    const streamAt = text.indexOf('stream\n', start.lastIndex)
    const hasStream = streamAt >= 0 && streamAt < end
    const dictionary = text.slice(start.lastIndex, hasStream ? streamAt : end)
    const length = Number(/\/Length (\d+)/.exec(dictionary)?.[1] ?? 0)
    const from = streamAt + 'stream\n'.length
    const bytes = pdf.subarray(from, from + length)
    const stream = dictionary.includes('/FlateDecode') ? () => inflateSync(bytes) : () => bytes
    objects.set(Number(match[1]), { dictionary, stream: hasStream ? stream() : null })
    start.lastIndex = hasStream ? from + length : end
  }
  return objects
}

const toCharacters = (hex: string): string => Buffer.from(hex, 'hex').swap16().toString('utf16le')
const toHex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

/** Reads the table of a font that maps codes to characters. */
function createDecode(table: string): Decode {
  const characters = new Map<string, string>()
  for (const [, block = ''] of table.matchAll(/beginbfchar([\s\S]*?)endbfchar/g))
    for (const [, code = '', hex = ''] of block.matchAll(/<(\w+)>\s*<(\w+)>/g))
      characters.set(code.toLowerCase(), toCharacters(hex))
  for (const [, block = ''] of table.matchAll(/beginbfrange([\s\S]*?)endbfrange/g))
    for (const [, first = '', last = '', hex = ''] of block.matchAll(/<(\w+)>\s*<(\w+)>\s*<(\w+)>/g))
      for (let code = Number.parseInt(first, 16); code <= Number.parseInt(last, 16); code++) {
        const offset = code - Number.parseInt(first, 16)
        const character = toHex(Number.parseInt(hex, 16) + offset, hex.length)
        characters.set(toHex(code, first.length), toCharacters(character))
      }
  const [digits = 4] = [...characters.keys()].map(({ length }) => length)
  return (hex) =>
    (hex.toLowerCase().match(new RegExp(`\\w{${digits}}`, 'g')) ?? [])
      .map((code) => characters.get(code) ?? '')
      .join('')
}

/** Returns the text of each page, without white space. */
export function readPdfPages(pdf: Buffer): string[] {
  const objects = readObjects(pdf)
  const read = (reference: string | undefined): PdfObject | undefined => objects.get(Number(reference))
  const pages = [...objects.values()].filter(({ dictionary }) => /\/Type \/Page\b/.test(dictionary))
  return pages.map(({ dictionary }) => {
    const fonts = new Map<string, Decode>()
    for (const [, name = '', reference] of dictionary.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const table = /\/ToUnicode (\d+) 0 R/.exec(read(reference)?.dictionary ?? '')?.[1]
      fonts.set(name, createDecode(read(table)?.stream?.toString('latin1') ?? ''))
    }
    const content = read(/\/Contents (\d+) 0 R/.exec(dictionary)?.[1])?.stream?.toString('latin1') ?? ''
    let decode: Decode = () => ''
    let text = ''
    for (const [, font, codes] of content.matchAll(/\/(F\d+) [\d.]+ Tf|<(\w+)>/g))
      if (font === undefined) text += decode(codes ?? '')
      else decode = fonts.get(font) ?? decode
    return text.replaceAll(/\s+/g, '')
  })
}
