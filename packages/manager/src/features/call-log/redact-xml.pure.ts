// Redacts secrets in XML. A strict parser reads the text and resolves only the five predefined entities of
// XML. Comments, processing instructions and the content of secret elements are replaced. Everything else
// stays unchanged.
import { SaxesParser } from 'saxes'
import type { RedactionContext } from './redact-budget.pure.ts'
import { isSecretName, type Meaning, getMeaning } from './redact-keys.pure.ts'
import { type Range, redactionMarker, replaceSpans, type Span } from './redact-spans.pure.ts'

type Attribute = Range & { name: string; value: string }
type OpenElement = {
  meaning: Meaning
  start: number
  /** The offset at which the content of the element starts. */
  content: number
  /** The offset from which the content is hidden, or Infinity. */
  hiddenFrom: number
  /** The text of the element, or null if it contains another element. */
  text: string | null
  hasName: boolean
  /** The child elements that are called `value`. */
  values: Range[]
}
type Reader = {
  source: string
  context: RedactionContext
  spans: Span[]
  open: OpenElement[]
  attributes: Attribute[]
  /** The text since the last tag. */
  run: string
  /** The offset at which the last tag ends. */
  tagEnd: number
  /** The offset at which the last markup token ends. The next token starts at the first `<` after it. */
  at: number
}

/**
 * Redacts the secrets in XML. The result for truncated XML ends after the last complete tag. Throws if the
 * text is not XML.
 */
export function redactXml(source: string, context: RedactionContext): string {
  const reader: Reader = { source, context, spans: [], open: [], attributes: [], run: '', tagEnd: 0, at: 0 }
  const parser = new SaxesParser({ xmlns: false, position: false })
  const addText = (text: string): void => void (reader.run += text)
  parser.on('text', addText)
  parser.on('cdata', (text) => {
    addText(text)
    reader.at = parser.position
  })
  // The parser emits this event before the `>`.
  parser.on('comment', () => replaceMarkup(reader, parser.position + 1, '<!-- -->'))
  parser.on('processinginstruction', ({ target }) =>
    replaceMarkup(reader, parser.position, `<?${target} ${redactionMarker}?>`),
  )
  parser.on('xmldecl', () => (reader.at = parser.position))
  parser.on('doctype', (declared) => {
    // A document type can declare entities, which could insert a secret into the text of any element.
    if (declared.includes('[') || context.redactInner(declared) !== declared)
      throw new Error('the document type contains declarations or secrets')
    reader.at = parser.position
  })
  parser.on('opentagstart', () => redactRun(reader))
  parser.on('attribute', ({ name, value }) =>
    readAttribute(reader, { name, value, end: parser.position - 1 }),
  )
  parser.on('opentag', ({ name }) => startElement(reader, name, parser.position))
  parser.on('closetag', ({ isSelfClosing }) => endElement(reader, isSelfClosing, parser.position))
  parser.write(source)
  if (!context.isTruncated) parser.close()
  else while (reader.open.length > 0) closeElement(reader, { start: reader.tagEnd, end: reader.tagEnd }, true)
  if (reader.tagEnd === 0) throw new Error('no tag is complete')
  const end = context.isTruncated ? reader.tagEnd : source.length
  return replaceSpans((from, to) => source.slice(from, to), end, reader.spans)
}

const findNextMarkup = ({ source, at }: Reader): number => source.indexOf('<', at)
const hide = ({ spans }: Reader, range: Range): void => void spans.push({ range, text: redactionMarker })

function replaceMarkup(reader: Reader, end: number, text: string): void {
  reader.context.spend()
  reader.spans.push({ range: { start: findNextMarkup(reader), end }, text })
  reader.at = end
}

/** Redacts the text since the last tag. */
function redactRun(reader: Reader): void {
  const { run: text, context, open, tagEnd: start } = reader
  if (text === '') return
  reader.run = ''
  const [element, parent] = [open.at(-1), open.at(-2)]
  if (element !== undefined && element.text !== null) element.text += text
  const redactedText = context.redactInner(text)
  if (redactedText === text) return
  reader.spans.push({ range: { start, end: findNextMarkup(reader) }, text: escapeText(redactedText) })
  // In `Password: <b>x</b>` and `<td>Password:</td><td>x</td>`, the secret value follows the text.
  if (!/[:=]\s*$/.test(text)) return
  for (const one of [element, parent]) if (one !== undefined) hideFrom(one, start)
}

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const hideFrom = (element: OpenElement, start: number): void => {
  element.hiddenFrom = Math.min(element.hiddenFrom, start)
}

function readAttribute(reader: Reader, { name, value, end }: Omit<Attribute, 'start'>): void {
  reader.context.spend()
  const quote = reader.source[end] as string
  reader.attributes.push({ name, value, start: reader.source.lastIndexOf(quote, end - 1) + 1, end })
}

/** Returns the name without its namespace prefix. */
const getLocalName = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

function startElement(reader: Reader, name: string, content: number): void {
  const { attributes, open, context } = reader
  context.spend()
  const meanings = attributes.map((one) => {
    const meaning = getMeaning(getLocalName(one.name))
    return meaning === 'name' && !isSecretName(one.value.trim()) ? 'other' : meaning
  })
  const meaning = getMeaning(getLocalName(name))
  const isSecret = meaning === 'secret' || meanings.includes('name')
  for (const [index, attribute] of attributes.entries()) {
    const isHidden = meanings[index] === 'secret' || (isSecret && meanings[index] !== 'name')
    const redactedText = isHidden ? redactionMarker : redactAttribute(reader, attribute)
    if (redactedText !== attribute.value)
      reader.spans.push({ range: attribute, text: escapeAttribute(redactedText) })
  }
  const parent = open.at(-1)
  if (parent !== undefined) parent.text = null
  open.push({
    meaning,
    start: findNextMarkup(reader),
    content,
    hiddenFrom: isSecret ? content : Infinity,
    text: '',
    hasName: false,
    values: [],
  })
  reader.attributes = []
  reader.at = reader.tagEnd = content
}

/**
 * Redacts an attribute value. The parser replaces line breaks with spaces, so only the raw value shows the
 * header line of a table.
 */
function redactAttribute({ source, context }: Reader, { value, start, end }: Attribute): string {
  const raw = source.slice(start, end)
  return /[\r\n]/.test(raw) && context.redactInner(raw) !== raw ? redactionMarker : context.redactInner(value)
}

const escapeAttribute = (text: string): string =>
  escapeText(text).replaceAll('"', '&quot;').replaceAll("'", '&apos;')

function endElement(reader: Reader, isSelfClosing: boolean, end: number): void {
  if (!isSelfClosing) redactRun(reader)
  closeElement(reader, { start: isSelfClosing ? end : findNextMarkup(reader), end }, false)
  reader.at = reader.tagEnd = end
}

/** Hides the secrets of a complete or truncated element, and records its meaning in the parent. */
function closeElement(reader: Reader, endTag: Range, isTruncated: boolean): void {
  const element = reader.open.pop() as OpenElement
  const parent = reader.open.at(-1)
  hide(reader, { start: element.hiddenFrom, end: endTag.start })
  if (isTruncated && !element.hasName) for (const range of element.values) hide(reader, range)
  if (parent === undefined) return
  const { meaning } = element
  if (meaning === 'value') parent.values.push({ start: element.start, end: endTag.end })
  if (meaning !== 'name') return
  // `<name>password</name><value>x</value>`
  if (element.text !== null && isSecretName(element.text.trim())) hideFrom(parent, parent.content)
  parent.hasName ||= !isTruncated
}
