// Secrets in XML. A strict parser reads the text and resolves only the five entities that XML itself defines. Comments,
// instructions and the content of a secret element are replaced; all else stays as it was sent. Pure.
import { SaxesParser } from 'saxes'
import type { Look } from './redact-budget.pure.ts'
import { isSecretName, type Meaning, meaningOf } from './redact-keys.pure.ts'
import { type Place, redacted, replaceSpans, type Span } from './redact-spans.pure.ts'

type Attribute = Place & { name: string; value: string }
type Open = {
  meaning: Meaning
  start: number
  /** Where its content starts. */
  content: number
  /** From here on its content is hidden; Infinity when it is not. */
  hiddenFrom: number
  /** The text in it; null when it holds an element. */
  text: string | null
  hasName: boolean
  /** Its children that are called `value`. */
  values: Place[]
}
type Reader = {
  source: string
  look: Look
  spans: Span[]
  open: Open[]
  attributes: Attribute[]
  /** The text since the last tag. */
  run: string
  /** Where the last tag ends. */
  tagEnd: number
  /** Where the last markup ends: the next one starts with the first `<` from here on. */
  at: number
}

/** The text with what is secret replaced, up to its last complete tag if it is cut; throws when it is not XML. */
export function redactXml(source: string, look: Look): string {
  const reader: Reader = { source, look, spans: [], open: [], attributes: [], run: '', tagEnd: 0, at: 0 }
  const parser = new SaxesParser({ xmlns: false, position: false })
  const addText = (text: string): void => void (reader.run += text)
  parser.on('text', addText)
  parser.on('cdata', (text) => {
    addText(text)
    reader.at = parser.position
  })
  // The event comes before the `>`.
  parser.on('comment', () => replaceMarkup(reader, parser.position + 1, '<!-- -->'))
  parser.on('processinginstruction', ({ target }) =>
    replaceMarkup(reader, parser.position, `<?${target} ${redacted}?>`),
  )
  parser.on('xmldecl', () => (reader.at = parser.position))
  parser.on('doctype', (declared) => {
    // A declared entity may be the text of any element.
    if (declared.includes('[') || look.inside(declared) !== declared) throw new Error('it declares something')
    reader.at = parser.position
  })
  parser.on('opentagstart', () => endRun(reader))
  parser.on('attribute', ({ name, value }) =>
    readAttribute(reader, { name, value, end: parser.position - 1 }),
  )
  parser.on('opentag', ({ name }) => startElement(reader, name, parser.position))
  parser.on('closetag', ({ isSelfClosing }) => endElement(reader, isSelfClosing, parser.position))
  parser.write(source)
  if (!look.isCut) parser.close()
  else while (reader.open.length > 0) leave(reader, { start: reader.tagEnd, end: reader.tagEnd }, true)
  if (reader.tagEnd === 0) throw new Error('no tag is complete')
  const end = look.isCut ? reader.tagEnd : source.length
  return replaceSpans((from, to) => source.slice(from, to), end, reader.spans)
}

const nextMarkup = ({ source, at }: Reader): number => source.indexOf('<', at)
const hide = ({ spans }: Reader, place: Place): void => void spans.push({ place, text: redacted })

function replaceMarkup(reader: Reader, end: number, text: string): void {
  reader.look.spend()
  reader.spans.push({ place: { start: nextMarkup(reader), end }, text })
  reader.at = end
}

/** Looks into the text since the last tag. */
function endRun(reader: Reader): void {
  const { run: text, look, open, tagEnd: start } = reader
  if (text === '') return
  reader.run = ''
  const [element, parent] = [open.at(-1), open.at(-2)]
  if (element !== undefined && element.text !== null) element.text += text
  const shown = look.inside(text)
  if (shown === text) return
  reader.spans.push({ place: { start, end: nextMarkup(reader) }, text: escaped(shown) })
  // `Password: <b>x</b>` and `<td>Password:</td><td>x</td>`: the value is in what follows.
  if (!/[:=]\s*$/.test(text)) return
  for (const one of [element, parent]) if (one !== undefined) hideFrom(one, start)
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const hideFrom = (element: Open, start: number): void => {
  element.hiddenFrom = Math.min(element.hiddenFrom, start)
}

function readAttribute(reader: Reader, { name, value, end }: Omit<Attribute, 'start'>): void {
  reader.look.spend()
  const quote = reader.source[end] as string
  reader.attributes.push({ name, value, start: reader.source.lastIndexOf(quote, end - 1) + 1, end })
}

/** The name without its prefix. */
const localName = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

function startElement(reader: Reader, name: string, content: number): void {
  const { attributes, open, look } = reader
  look.spend()
  const meanings = attributes.map((one) => {
    const meaning = meaningOf(localName(one.name))
    return meaning === 'name' && !isSecretName(one.value.trim()) ? 'other' : meaning
  })
  const meaning = meaningOf(localName(name))
  const isSecret = meaning === 'secret' || meanings.includes('name')
  for (const [index, place] of attributes.entries()) {
    const isHidden = meanings[index] === 'secret' || (isSecret && meanings[index] !== 'name')
    const shown = isHidden ? redacted : showAttribute(reader, place)
    if (shown !== place.value) reader.spans.push({ place, text: escapedInQuotes(shown) })
  }
  const parent = open.at(-1)
  if (parent !== undefined) parent.text = null
  open.push({
    meaning,
    start: nextMarkup(reader),
    content,
    hiddenFrom: isSecret ? content : Infinity,
    text: '',
    hasName: false,
    values: [],
  })
  reader.attributes = []
  reader.at = reader.tagEnd = content
}

/** The parser turns line ends into blanks; a table has its head only in what was written. */
function showAttribute({ source, look }: Reader, { value, start, end }: Attribute): string {
  const raw = source.slice(start, end)
  return /[\r\n]/.test(raw) && look.inside(raw) !== raw ? redacted : look.inside(value)
}

const escapedInQuotes = (text: string): string =>
  escaped(text).replaceAll('"', '&quot;').replaceAll("'", '&apos;')

function endElement(reader: Reader, isSelfClosing: boolean, end: number): void {
  if (!isSelfClosing) endRun(reader)
  leave(reader, { start: isSelfClosing ? end : nextMarkup(reader), end }, false)
  reader.at = reader.tagEnd = end
}

/** Hides what is secret in an element that ends here, or that is cut, and tells its parent what it was. */
function leave(reader: Reader, endTag: Place, isCut: boolean): void {
  const element = reader.open.pop() as Open
  const parent = reader.open.at(-1)
  hide(reader, { start: element.hiddenFrom, end: endTag.start })
  if (isCut && !element.hasName) for (const place of element.values) hide(reader, place)
  if (parent === undefined) return
  const { meaning } = element
  if (meaning === 'value') parent.values.push({ start: element.start, end: endTag.end })
  if (meaning !== 'name') return
  // `<name>password</name><value>x</value>`
  if (element.text !== null && isSecretName(element.text.trim())) hideFrom(parent, parent.content)
  parent.hasName ||= !isCut
}
