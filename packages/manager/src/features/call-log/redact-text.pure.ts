// Secrets in text of no known kind: what follows a sensitive name, credentials by their scheme, and a few forms that
// carry secrets without a name beside them. Pure.
import { signs, signsOf } from './redact-characters.pure.ts'
import { entityEscapes, looseEscapes, noEscapes } from './redact-escapes.pure.ts'
import { isSecretName } from './redact-keys.pure.ts'
import { findNamed } from './redact-named.pure.ts'
import { addFound, hide, read, type Scan, type Span, startReading } from './redact-spans.pure.ts'

const querySign = /[?&#]([^\s"<>#]+)/g
const pairSign = /=|%3d|&#61;|&#x3d;|\\u003d/i
const scheme =
  /\b(?:bearer|basic)[\s\ufffd]+(?!(?:realm|charset|scope|error(?:_description)?)=)["']?([^\s"'<>,;]+)/gi
const userinfo = /:\/\/([^\s/?#"'<>]*)@/g
// Where the text is cut, what may have become one.
const cutUserinfo = /:\/\/([^\s/?#"'<>:]*:[^\s/?#"'<>]*)$/g
const firstLine = /^\s*[^\r\n]*/
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g

// Of all passes over a character, of a query, a cell of a table, and something found.
const [costOfPasses, costOfQuery, costOfCell, costOfMatch] = [8, 250, 60, 180]

/** Finds what to hide in a text, apart from these queries in it; a form is a query from its beginning. */
export function findInText(scan: Scan, isForm: boolean, queries: readonly Query[]): void {
  const { isCut, spans, spend } = scan
  const inside = (text: string): Span[] => {
    spend(text.length * costOfPasses)
    const found: Scan = { text, isCut, spans: [], spend, inside: scan.inside }
    const has = signsOf(text)
    if ((has & signs.separator) !== 0) findNamed(found, isForm)
    if ((has & signs.lineEnd) !== 0) findTable(found)
    if ((has & signs.b) !== 0) findMatches(found, scheme, 0)
    if ((has & signs.at) !== 0) findUserinfo(found)
    if (isCut && (has & signs.separator) !== 0) findMatches(found, cutUserinfo, 0)
    if ((has & signs.dash) !== 0) findPrivateKey(found)
    return found.spans
  }
  const reading = startReading(scan)
  // The escapes of a query are resolved when its values are looked into.
  const escapes = isForm ? entityEscapes : looseEscapes
  let at = 0
  for (const { start, end } of queries) {
    read(reading, scan.text.slice(at, start), at, escapes)
    read(reading, scan.text.slice(start, end), start, noEscapes)
    at = end
  }
  read(reading, scan.text.slice(at), at, escapes)
  addFound({ text: scan.text, isCut, spans, spend, inside }, reading, escapes)
}

export type Query = { query: string; start: number; end: number }

/** The queries in a text: what follows `?`, `&` or `#` and has pairs. */
export function queriesIn({ text, spend }: Scan): Query[] {
  const queries: Query[] = []
  querySign.lastIndex = 0
  for (let match = querySign.exec(text); match !== null; match = querySign.exec(text)) {
    spend(costOfQuery)
    const [, query = ''] = match
    const start = match.index + 1
    if (pairSign.test(query)) queries.push({ query, start, end: start + query.length })
  }
  return queries
}

/** Finds the user and password of an address, if it has some. */
export const findUserinfo = (scan: Pick<Scan, 'text' | 'spans' | 'spend'>): void =>
  findMatches(scan, userinfo, '@'.length)

/** A table whose first line names a secret column: all below is hidden. */
function findTable({ text, spans, spend }: Scan): void {
  const [line = ''] = firstLine.exec(text) ?? []
  if (line.length === text.length || line.length > 4_096) return
  const cells = line.split(/[,;\t|]/)
  spend(cells.length * costOfCell)
  const isSecret =
    cells.length > 1 && cells.some((cell) => isSecretName(cell.replaceAll(/["'\s]/g, ''), spend))
  if (isSecret) spans.push(hide(line.length, text.length))
}

/** Hides what the group of the pattern finds, which ends `behind` characters before the match does. */
function findMatches(
  { text, spans, spend }: Pick<Scan, 'text' | 'spans' | 'spend'>,
  pattern: RegExp,
  behind: number,
): void {
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    spend(costOfMatch)
    const end = pattern.lastIndex - behind
    spans.push(hide(end - (match[1] as string).length, end))
  }
}

function findPrivateKey({ text, spans, spend }: Scan): void {
  privateKey.lastIndex = 0
  while (privateKey.test(text)) {
    spend(costOfMatch)
    const start = privateKey.lastIndex
    const end = text.indexOf('-----END', start)
    privateKey.lastIndex = end < 0 ? text.length : end
    spans.push(hide(start, privateKey.lastIndex))
  }
}
