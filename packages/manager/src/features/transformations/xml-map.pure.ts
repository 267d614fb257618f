// An XML document as a map: the root's name on top, `-name` for attributes, `#text` for text beside other content, a
// list for elements that repeat. Values are texts, prefixes are dropped. Pure. A DOCTYPE is refused before anything it
// could declare is looked at.
import { SaxesParser } from 'saxes'

export type XmlValue = string | XmlMap | XmlValue[]
export type XmlMap = Map<string, XmlValue>

const limits = { depth: 64, elements: 50_000, attributes: 128 } as const

/** Thrown for what is no XML, or more of it than a template is given. */
export class XmlProblem extends Error {}

type Open = { name: string; map: XmlMap; text: string }

/** The document as a map with one entry; throws XmlProblem. */
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
  parser.on('error', (error) => fail(withoutPlace(error)))
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

/** Why a text is no well-formed document, with its place; null when it is one. Nothing is made of it. */
export function problemOfXml(text: string): string | null {
  const parser = new SaxesParser({ xmlns: true, position: true })
  parser.on('error', (error) => {
    throw new XmlProblem(`${withoutPlace(error)} (line ${parser.line}, column ${parser.column + 1})`)
  })
  try {
    parser.write(text).close()
    return null
  } catch (error) {
    if (error instanceof XmlProblem) return error.message
    throw error
  }
}

const withoutPlace = (error: Error): string => error.message.replace(/^\d+:\d+: /, '')

const beforeRoot = [
  { begin: '<?', end: '?>' },
  { begin: '<!--', end: '-->' },
] as const
const spaces = /\s*/y

/** Looks at what comes before the root, the only place for a DOCTYPE; only comments begin with `<!` there too. */
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
  const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
  throw new XmlProblem(`a DOCTYPE is not accepted (${place})`)
}

function add(map: XmlMap, name: string, value: XmlValue): void {
  const present = map.get(name)
  if (present === undefined) map.set(name, value)
  else if (Array.isArray(present)) present.push(value)
  else map.set(name, [present, value])
}

const isNamespace = (attribute: string): boolean => attribute === 'xmlns' || attribute.startsWith('xmlns:')
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
