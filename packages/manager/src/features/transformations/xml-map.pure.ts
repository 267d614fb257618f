// Converts an XML document to a map. The root name is the only key at the top level. Attributes become
// `-name`, text next to other content becomes `#text`, and repeated elements become a list. Values are
// strings, and prefixes are dropped. A DOCTYPE is rejected before anything in it is parsed.
import { SaxesParser } from 'saxes'

export type XmlValue = string | XmlMap | XmlValue[]
export type XmlMap = Map<string, XmlValue>

const limits = { depth: 64, elements: 50_000, attributes: 128 } as const

/** Thrown for input that is not XML or exceeds the limits. */
export class XmlProblem extends Error {}

type OpenElement = { name: string; map: XmlMap; text: string }

/** Returns the document as a map with one entry. Throws XmlProblem. */
export function convertXmlToMap(text: string): XmlMap {
  rejectDoctype(text)
  const document: XmlMap = new Map()
  const openElements: OpenElement[] = [{ name: '', map: document, text: '' }]
  let elementCount = 0
  let attributeCount = 0
  const parser = new SaxesParser({ xmlns: false, position: true })
  const fail = (message: string): never => {
    throw new XmlProblem(`${message} (line ${parser.line}, column ${parser.column + 1})`)
  }
  parser.on('error', (error) => fail(stripPosition(error)))
  parser.on('opentagstart', () => {
    attributeCount = 0
    if (++elementCount > limits.elements) fail(`more than ${limits.elements} elements`)
    if (openElements.length > limits.depth) fail(`elements are nested more than ${limits.depth} levels deep`)
  })
  parser.on('attribute', () => {
    if (++attributeCount > limits.attributes) fail(`an element has more than ${limits.attributes} attributes`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    const map: XmlMap = new Map()
    for (const [attribute, value] of Object.entries(attributes as Record<string, string>))
      if (!isNamespace(attribute)) map.set(`-${getLocalName(attribute)}`, value)
    openElements.push({ name: getLocalName(name), map, text: '' })
  })
  const addText = (piece: string): void => {
    const element = openElements.at(-1)
    if (element !== undefined) element.text += piece
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const { name, map, text: ownText } = openElements.pop() as OpenElement
    const parent = openElements.at(-1) as OpenElement
    const trimmed = ownText.trim()
    if (map.size > 0 && trimmed !== '') map.set('#text', trimmed)
    addValue(parent.map, name, map.size > 0 ? map : trimmed)
  })
  parser.write(text).close()
  return document
}

/**
 * Returns why the XML is not well-formed, with line and column, or null if it is well-formed. Builds no map.
 */
export function findXmlProblem(text: string): string | null {
  const parser = new SaxesParser({ xmlns: true, position: true })
  parser.on('error', (error) => {
    throw new XmlProblem(`${stripPosition(error)} (line ${parser.line}, column ${parser.column + 1})`)
  })
  try {
    parser.write(text).close()
    return null
  } catch (error) {
    if (error instanceof XmlProblem) return error.message
    throw error
  }
}

const stripPosition = (error: Error): string => error.message.replace(/^\d+:\d+: /, '')

const prologConstructs = [
  { begin: '<?', end: '?>' },
  { begin: '<!--', end: '-->' },
] as const
const spaces = /\s*/y

/**
 * Checks the text before the root, the only position at which a DOCTYPE can occur. Apart from a DOCTYPE, only comments
 * start with `<!` there.
 */
function rejectDoctype(text: string): void {
  let offset = 0
  for (;;) {
    spaces.lastIndex = offset
    offset += spaces.exec(text)?.[0].length ?? 0
    const construct = prologConstructs.find(({ begin }) => text.startsWith(begin, offset))
    if (construct === undefined) break
    const endIndex = text.indexOf(construct.end, offset + construct.begin.length)
    offset = endIndex === -1 ? text.length : endIndex + construct.end.length
  }
  if (!text.startsWith('<!', offset)) return
  const lines = text.slice(0, offset).split('\n')
  const position = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
  throw new XmlProblem(`a DOCTYPE is not accepted (${position})`)
}

function addValue(map: XmlMap, name: string, value: XmlValue): void {
  const existingValue = map.get(name)
  if (existingValue === undefined) map.set(name, value)
  else if (Array.isArray(existingValue)) existingValue.push(value)
  else map.set(name, [existingValue, value])
}

const isNamespace = (attribute: string): boolean => attribute === 'xmlns' || attribute.startsWith('xmlns:')
const getLocalName = (name: string): string => name.slice(name.indexOf(':') + 1)
