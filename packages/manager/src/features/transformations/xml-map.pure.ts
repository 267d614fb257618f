// Converts an XML document to a map. The root name is the only key at the top level. Attributes become `-name`, text
// next to other content becomes `#text`, and repeated elements become a list. Values are texts, and prefixes are
// dropped. A DOCTYPE is rejected before anything in it is parsed.
import { SaxesParser } from 'saxes'

export type XmlValue = string | XmlMap | XmlValue[]
export type XmlMap = Map<string, XmlValue>

const limits = { depth: 64, elements: 50_000, attributes: 128 } as const

/** Thrown for input that is not XML or exceeds the limits. */
export class XmlProblem extends Error {}

type Open = { name: string; map: XmlMap; text: string }

/** Returns the document as a map with one entry. Throws XmlProblem. */
export function xmlToMap(text: string): XmlMap {
  refuseDoctype(text)
  const document: XmlMap = new Map()
  const open: Open[] = [{ name: '', map: document, text: '' }]
  let elements = 0
  let attributesOfElement = 0
  const parser = new SaxesParser({ xmlns: false, position: true })
  const fail = (message: string): never => {
    throw new XmlProblem(`${message} (line ${parser.line}, column ${parser.column + 1})`)
  }
  parser.on('error', (error) => fail(withoutPosition(error)))
  parser.on('opentagstart', () => {
    attributesOfElement = 0
    if (++elements > limits.elements) fail(`more than ${limits.elements} elements`)
    if (open.length > limits.depth) fail(`elements are nested more than ${limits.depth} deep`)
  })
  parser.on('attribute', () => {
    if (++attributesOfElement > limits.attributes)
      fail(`an element has more than ${limits.attributes} attributes`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    const map: XmlMap = new Map()
    for (const [attribute, value] of Object.entries(attributes as Record<string, string>))
      if (!isNamespace(attribute)) map.set(`-${localName(attribute)}`, value)
    open.push({ name: localName(name), map, text: '' })
  })
  const addText = (piece: string): void => {
    const element = open.at(-1)
    if (element !== undefined) element.text += piece
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const { name, map, text: own } = open.pop() as Open
    const parent = open.at(-1) as Open
    const trimmed = own.trim()
    if (map.size > 0 && trimmed !== '') map.set('#text', trimmed)
    add(parent.map, name, map.size > 0 ? map : trimmed)
  })
  parser.write(text).close()
  return document
}

/** Returns why a text is not well-formed, with line and column, or null. Builds no map. */
export function findXmlProblem(text: string): string | null {
  const parser = new SaxesParser({ xmlns: true, position: true })
  parser.on('error', (error) => {
    throw new XmlProblem(`${withoutPosition(error)} (line ${parser.line}, column ${parser.column + 1})`)
  })
  try {
    parser.write(text).close()
    return null
  } catch (error) {
    if (error instanceof XmlProblem) return error.message
    throw error
  }
}

const withoutPosition = (error: Error): string => error.message.replace(/^\d+:\d+: /, '')

const beforeRoot = [
  { begin: '<?', end: '?>' },
  { begin: '<!--', end: '-->' },
] as const
const spaces = /\s*/y

/**
 * Checks the text before the root, the only position at which a DOCTYPE can occur. Apart from a DOCTYPE, only comments
 * start with `<!` there.
 */
function refuseDoctype(text: string): void {
  let at = 0
  for (;;) {
    spaces.lastIndex = at
    at += spaces.exec(text)?.[0].length ?? 0
    const skipped = beforeRoot.find(({ begin }) => text.startsWith(begin, at))
    if (skipped === undefined) break
    const found = text.indexOf(skipped.end, at + skipped.begin.length)
    at = found === -1 ? text.length : found + skipped.end.length
  }
  if (!text.startsWith('<!', at)) return
  const lines = text.slice(0, at).split('\n')
  const position = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
  throw new XmlProblem(`a DOCTYPE is not accepted (${position})`)
}

function add(map: XmlMap, name: string, value: XmlValue): void {
  const present = map.get(name)
  if (present === undefined) map.set(name, value)
  else if (Array.isArray(present)) present.push(value)
  else map.set(name, [present, value])
}

const isNamespace = (attribute: string): boolean => attribute === 'xmlns' || attribute.startsWith('xmlns:')
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
