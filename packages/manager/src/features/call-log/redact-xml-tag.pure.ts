// One tag of XML or HTML, read as far as it goes. Pure.
import type { Scan } from './redact-spans.pure.ts'

/** An attribute, and where its value is between its quotes. */
type Attribute = { name: string; start: number; end: number }
export type Tag = {
  name: string
  attributes: Attribute[]
  end: number
  /** `broken`: ended by a character that no tag has here; `cut`: by the end of the text. */
  ending: 'open' | 'empty' | 'broken' | 'cut'
}

// A name does not end in a colon: `<https://…>` is no tag.
const name = String.raw`([A-Za-z_:\x80-\uffff][\w.:\x80-\uffff-]*)(?<!:)`
const startTag = new RegExp(`<${name}`, 'y')
// The letters of names hold blanks beyond ASCII too; those belong to the name until one of ASCII has ended it.
const endTag = new RegExp(String.raw`</${name}(?:[ \t-\r]\s*)?>`, 'y')
const nameEnd = /[\s/>]|$/y
const markup = /<[!?/A-Za-z_:\x80-\uffff]/g
const attribute = /[\s/]*([^\s=<>"'/]+)(?:\s*=\s*(?:"([^"]*)("?)|'([^']*)('?)|([^\s<>"'`]+)))?/y
// No two parts of it take the same blanks: otherwise a tag of many blanks would be read in all their divisions.
const tagEnd = /\s*(\/\s*)?>/y

const costOfAttribute = 260

/** Where something begins that looks like a tag, from here on; the end of the text when nothing does. */
export function nextMarkup(text: string, from: number): number {
  markup.lastIndex = from
  return markup.exec(text)?.index ?? text.length
}

/** The name without its prefix. */
export const localName = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

/** The name and end of the end tag here, if there is one. */
export function readEndTag(text: string, at: number): { name: string; end: number } | null {
  endTag.lastIndex = at
  const name = endTag.exec(text)?.[1]
  return name === undefined ? null : { name, end: endTag.lastIndex }
}

/** The tag that begins here, if one does. */
export function readTag({ text, spend }: Scan, from: number): Tag | null {
  startTag.lastIndex = from
  const name = startTag.exec(text)?.[1]
  if (name === undefined) return null
  const attributes: Attribute[] = []
  let end = startTag.lastIndex
  nameEnd.lastIndex = end
  if (!nameEnd.test(text)) return { name, attributes, end, ending: 'broken' }
  for (;;) {
    spend(costOfAttribute)
    tagEnd.lastIndex = end
    const ended = tagEnd.exec(text)
    if (ended !== null)
      return { name, attributes, end: tagEnd.lastIndex, ending: ended[1] === undefined ? 'open' : 'empty' }
    attribute.lastIndex = end
    const match = attribute.exec(text)
    if (match === null)
      return { name, attributes, end, ending: /[^\s=]/.test(text.slice(end)) ? 'broken' : 'cut' }
    end = attribute.lastIndex
    const [, named = '', double, doubleEnd, single, singleEnd, bare] = match
    const value = double ?? single ?? bare ?? ''
    const valueEnd = end - (doubleEnd ?? singleEnd ?? '').length
    attributes.push({ name: named, start: valueEnd - value.length, end: valueEnd })
  }
}
