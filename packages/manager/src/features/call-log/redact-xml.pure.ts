// Secrets in XML, found by going once through its tags. Nothing is resolved or expanded, a beginning is read as well as
// a whole, and where tags do not fit together what follows a secret is hidden. Pure.
import {
  attributeEscapes,
  betweenTagsEscapes,
  noEscapes,
  resolved,
  xmlEscapes,
} from './redact-escapes.pure.ts'
import { isSecretName, meaningOf } from './redact-keys.pure.ts'
import {
  addFound,
  hide,
  lookInside,
  read,
  type Reading,
  type Scan,
  startReading,
} from './redact-spans.pure.ts'
import { endsInKey } from './redact-named.pure.ts'
import { localName, nextMarkup, readEndTag, readTag, type Tag } from './redact-xml-tag.pure.ts'

type Place = { start: number; end: number }
type Open = {
  name: string
  start: number
  /** Where its content begins. */
  content: number
  isHidden: boolean
  /** The text in it, while it holds no element. */
  text: string | null
  /** From here on its content belongs to a text that ends in `password:`. */
  hiddenFrom: number
  hasName: boolean
  /** The elements that name a secret, as in `<name>password</name><value>x</value>`. */
  names: Place[]
  value: Place | null
}
type Xml = {
  scan: Scan
  at: number
  open: Open[]
  /** The text since the last tag. */
  run: Reading
  /** The end of the last secret element or tag. */
  secretEnd: number
}

const plainDoctype = /<!doctype[^[>]*>/iy
// Of a tag, declaration or instruction, and of an element that is left.
const [costOfMarkup, costOfElement] = [120, 60]

/** Finds what to hide in XML or HTML, or in a text that has tags. */
export function findInXml(scan: Scan): void {
  const { text } = scan
  const open = [opened('', 0, 0)]
  const run = startReading(scan)
  const xml: Xml = { scan, at: 0, open, run, secretEnd: -1 }
  for (let start = nextMarkup(text, 0); start < text.length;)
    start = nextMarkup(text, readMarkup(xml, start) ? xml.at : start + 1)
  readText(xml, text.length)
  endRun(xml)
  for (let element = xml.open.pop(); element !== undefined; element = xml.open.pop())
    leave(xml, element, { start: text.length, end: text.length })
}

const opened = (name: string, start: number, content: number): Open => ({
  name,
  start,
  content,
  isHidden: false,
  text: '',
  hiddenFrom: -1,
  hasName: false,
  names: [],
  value: null,
})

function readText(xml: Xml, end: number): void {
  read(xml.run, xml.scan.text.slice(xml.at, end), xml.at, betweenTagsEscapes)
  xml.at = end
}

/** Reads the text up to here and the markup that begins here; false when this is none. */
function readMarkup(xml: Xml, start: number): boolean {
  const { text, spend } = xml.scan
  spend(costOfMarkup)
  const sign = text[start + 1]
  const endTag = sign === '/' ? readEndTag(text, start) : null
  const tag = endTag === null ? readTag(xml.scan, start) : null
  const isTag = endTag !== null || (tag !== null && !isBroken(xml, tag))
  if (!isTag && sign !== '!' && sign !== '?') return false
  readText(xml, start)
  if (endTag !== null) endElement(xml, endTag)
  else if (tag !== null) startElement(xml, tag)
  else if (sign === '!') readDeclaration(xml)
  else {
    xml.at = endAfter(text, '?>', start)
    lookInside(xml.scan, start + 2, xml.at, noEscapes)
  }
  return true
}

/** What looks like a tag at first is text, unless something in it is secret. */
function isBroken(xml: Xml, tag: Tag): boolean {
  if (tag.ending !== 'broken') return false
  const [isHidden, isSecret] = secretsOf(xml.scan, tag)
  return !isSecret && !isHidden.includes(true)
}

const endAfter = (text: string, mark: string, from: number): number => {
  const at = text.indexOf(mark, from)
  return at < 0 ? text.length : at + mark.length
}

function readDeclaration(xml: Xml): void {
  const { at } = xml
  const { text } = xml.scan
  plainDoctype.lastIndex = at
  if (text.startsWith('<!--', at)) {
    xml.at = endAfter(text, '-->', at + 4)
    xml.scan.spans.push({ start: at, end: xml.at, text: '<!-- -->' })
  } else if (text.startsWith('<![CDATA[', at)) {
    xml.at = endAfter(text, ']]>', at + 9)
    const end = text.startsWith(']]>', xml.at - 3) ? xml.at - 3 : xml.at
    read(xml.run, text.slice(at + 9, end), at + 9, noEscapes)
  } else if (plainDoctype.test(text)) xml.at = plainDoctype.lastIndex
  // What else a document type declares may be the text of any element.
  else hideFrom(xml, at + 2)
}

function hideFrom(xml: Xml, from: number): void {
  xml.scan.spans.push(hide(from, xml.scan.text.length))
  xml.at = xml.scan.text.length
}

/** Which attributes are secret, and whether the element is as a whole. */
function secretsOf({ text, spend }: Scan, { name, attributes }: Tag): [boolean[], boolean] {
  const meanings = attributes.map((one) => {
    const meaning = meaningOf(localName(one.name), spend)
    if (meaning !== 'name') return meaning
    const value = resolved(text.slice(one.start, one.end), xmlEscapes, spend)
    return isSecretName(value.trim(), spend) ? 'name' : 'other'
  })
  const isSecret = meaningOf(localName(name), spend) === 'secret' || meanings.includes('name')
  return [meanings.map((meaning) => meaning === 'secret' || (isSecret && meaning !== 'name')), isSecret]
}

function startElement(xml: Xml, tag: Tag): void {
  const start = xml.at
  const [isHidden, isSecret] = secretsOf(xml.scan, tag)
  const parent = xml.open.at(-1) as Open
  if (endRun(xml)) hideContent(parent, start)
  parent.text = null
  xml.at = tag.end
  if (tag.ending === 'broken') return hideFrom(xml, start + 1 + tag.name.length)
  for (const [index, one] of tag.attributes.entries())
    if (isHidden[index] === true || tag.ending === 'cut') {
      xml.scan.spans.push(hide(one.start, one.end))
      xml.secretEnd = tag.end
    } else lookInside(xml.scan, one.start, one.end, attributeEscapes)
  if (tag.ending === 'empty') return
  xml.open.push({ ...opened(tag.name, start, tag.end), isHidden: isSecret })
}

function endElement(xml: Xml, { name, end }: { name: string; end: number }): void {
  const element = xml.open.at(-1) as Open
  if (element.name !== name) {
    if (meaningOf(localName(name), xml.scan.spend) === 'secret') hideFrom(xml, element.content)
    else if (xml.secretEnd >= 0) hideFrom(xml, xml.secretEnd)
    else {
      endRun(xml)
      xml.at = end
    }
    return
  }
  const isKey = endRun(xml)
  xml.open.pop()
  leave(xml, element, { start: xml.at, end })
  xml.at = end
  if (isKey) hideContent(xml.open.at(-1) as Open, end)
}

const hideContent = (element: Open, from: number): void => {
  if (element.hiddenFrom < 0) element.hiddenFrom = from
}

/** Searches the text since the last tag; returns whether it ends in the name of a secret and a colon. */
function endRun(xml: Xml): boolean {
  const { text } = xml.run
  if (text === '') return false
  const element = xml.open.at(-1) as Open
  if (element.text !== null) element.text += text
  addFound(xml.scan, xml.run, xmlEscapes)
  xml.run = startReading(xml.scan)
  return endsInKey(text, xml.scan.spend)
}

/** Hides what is secret in an element that ends here, or is not ended, and tells its parent what it was. */
function leave(xml: Xml, element: Open, endTag: Place): void {
  const { spans, text, spend } = xml.scan
  spend(costOfElement)
  const isCut = endTag.start === text.length
  if (element.isHidden) {
    spans.push(hide(element.content, endTag.start))
    xml.secretEnd = endTag.end
  } else if (element.names.length > 0) {
    let at = element.content
    for (const place of [...element.names, endTag]) {
      if (/\S/.test(text.slice(at, place.start))) spans.push(hide(at, place.start))
      at = place.end
    }
    xml.secretEnd = endTag.end
  } else if (element.hiddenFrom >= 0) spans.push(hide(element.hiddenFrom, endTag.start))
  else if (isCut && !element.hasName && element.value !== null)
    spans.push(hide(element.value.start, element.value.end))
  const parent = xml.open.at(-1)
  if (parent === undefined) return
  const place = { start: element.start, end: endTag.end }
  const meaning = meaningOf(localName(element.name), spend)
  if (meaning === 'value') parent.value = place
  if (meaning !== 'name') return
  parent.hasName ||= !isCut
  if (element.text !== null && isSecretName(element.text.trim(), spend)) parent.names.push(place)
}
