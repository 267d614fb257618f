// Secrets in text of no known kind: what follows a sensitive name and `:` or `=`, credentials by their scheme, and a few
// forms that carry secrets without a name beside them. Where the end of a value is not certain, it is the end of its
// lines. Pure.
import { entityEscapes, looseEscapes, noEscapes } from './escapes.ts'
import { endOfJson } from './json.ts'
import { isSecretName, lettersOf, maxLetters, type Meaning, meaningOf, meaningOfLetters } from './keys.ts'
import { addFound, hide, read, type Scan, type Span, startReading } from './spans.ts'

const maxNameLength = 100
const separator = /(?<![=:])[=:]/g
// What may stand between a name and its separator, and between the words of a name.
const beforeSeparator = /[\s"'`\\\])>*_\ufffd-]/
const pathCharacter = /[\w.[\]\ufffd-]/
const betweenWords = /[\s+._\ufffd-]/
const pairSign = /=|%3d|&#61;|&#x3d;|\\u003d/i
const nameValue = /^[^\w{}[\]<>]{0,8}([\w.[\]-]*)/
const scheme =
  /\b(?:bearer|basic)[\s\ufffd]+(?!(?:realm|charset|scope|error(?:_description)?)=)["']?([^\s"'<>,;]+)/dgi
const userinfo = /:\/\/([^\s/?#"'<>]*)@/dg
// Where the text is cut, what may have become one.
const cutUserinfo = /:\/\/([^\s/?#"'<>:]*:[^\s/?#"'<>]*)$/dg
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g

/** Finds what to hide in a text, apart from the queries in it; a form is a query from its beginning. */
export function findInText(scan: Scan, isForm: boolean): void {
  const inside = (text: string): Span[] => [
    ...findNamed(text, isForm),
    ...findTable(text),
    ...findMatches(text, scheme),
    ...findMatches(text, userinfo),
    ...(scan.isCut ? findMatches(text, cutUserinfo) : []),
    ...findPrivateKey(text),
  ]
  const reading = startReading()
  // The escapes of a query are resolved when its values are looked into.
  const escapes = isForm ? entityEscapes : looseEscapes
  let at = 0
  for (const { start, end } of isForm ? [] : queriesIn(scan.text)) {
    read(reading, scan.text.slice(at, start), at, escapes)
    read(reading, scan.text.slice(start, end), start, noEscapes)
    at = end
  }
  read(reading, scan.text.slice(at), at, escapes)
  addFound({ ...scan, inside }, reading, escapes)
}

/** The queries in a text: what follows `?`, `&` or `#` and has pairs. */
export const queriesIn = (text: string): { query: string; start: number; end: number }[] =>
  [...text.matchAll(/[?&#]([^\s"<>#]+)/g)]
    .filter(([, query = '']) => pairSign.test(query))
    .map(({ 1: query = '', index }) => ({ query, start: index + 1, end: index + 1 + query.length }))

/** The user and password of an address, if it has some. */
export const findUserinfo = (url: string): Span[] => findMatches(url, userinfo)

/** Whether the text ends in a sensitive name and a separator. */
export function endsInKey(text: string): boolean {
  const trimmed = text.trimEnd()
  return /[=:]$/.test(trimmed) && keyBefore(trimmed, trimmed.length - 1).meaning === 'secret'
}

function findNamed(text: string, isForm: boolean): Span[] {
  const spans: Span[] = []
  const isInQuery = queryWatch(text, isForm)
  separator.lastIndex = 0
  for (let match = separator.exec(text); match !== null; match = separator.exec(text)) {
    const { index } = match
    const { start, meaning } = keyBefore(text, index)
    const isPair = match[0] === '=' && isInQuery(index)
    if (meaning === 'secret' && (isForm || !isPair)) {
      const value = isPair ? hide(index + 1, matchEnd(/[^&]*/y, text, index)) : valueAfter(text, start, index)
      spans.push(value)
      separator.lastIndex = Math.max(value.end, index + 1)
    } else if (meaning === 'name' && !isPair) {
      const [shown = '', word = ''] = nameValue.exec(text.slice(index + 1, index + maxNameLength)) ?? []
      if (!isSecretName(word)) continue
      const object = text.lastIndexOf('{', index)
      // Beside the name of a secret stands the secret, and nothing tells where.
      return [...spans, hide(object < 0 ? index + 1 + shown.length : object + 1, text.length)]
    }
  }
  return spans
}

/**
 * The name in front of the separator; `api key` is one name in two words. Does not look beyond the separator before, so
 * that all looks together are as long as the text.
 */
function keyBefore(text: string, separator: number): { start: number; meaning: Meaning } {
  let at = separator
  while (at > 0 && beforeSeparator.test(text[at - 1] as string)) at--
  const path = pathBefore(text, at)
  if (path !== '' && meaningOf(path) === 'secret') return { start: at - path.length, meaning: 'secret' }
  let letters = ''
  let [start, meaning]: [number, Meaning] = [at, 'other']
  while (letters.length < maxLetters) {
    const end = at
    while (at > 0 && end - at < maxLetters && isWordCharacter(text, at - 1)) at--
    if (at === end) break
    letters = lettersOf(text.slice(at, end)) + letters
    const found = meaningOfLetters(letters)
    if (found === 'secret' || (found === 'name' && meaning === 'other')) [start, meaning] = [at, found]
    if (found === 'secret') break
    while (at > 0 && betweenWords.test(text[at - 1] as string)) at--
  }
  return { start, meaning }
}

/** A name of several parts, such as `user[password][0`. */
function pathBefore(text: string, end: number): string {
  let at = end
  while (at > 0 && pathCharacter.test(text[at - 1] as string)) at--
  const path = text.slice(at, end)
  return /[.[]/.test(path) ? path : ''
}

function isWordCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 128) return (code > 47 && code < 58) || (code > 64 && code < 91) || (code > 96 && code < 123)
  return /[\p{L}\p{N}\p{M}]/u.test(text[at] as string)
}

/** Where the value of a name stands. */
function valueAfter(text: string, key: number, separator: number): Span {
  const start = matchEnd(/[\s=:>\\]*/y, text, separator + 1)
  let end = start
  const first = text[start]
  if (first === '{' || first === '[') return hide(start, endOfJson(text, start))
  if (first === '"' || first === "'" || first === '`') {
    end = endOfQuoted(text, start)
    const isDelimited = matchEnd(/[ \t]*(?:$|[\r\n,})\];&>|/])/y, text, end) > end || end === text.length
    if (isDelimited) return hide(start + 1, text[end - 1] === first ? Math.max(end - 1, start + 1) : end)
  }
  return hide(start, endOfLines(text, key, end))
}

/** Where the match of a sticky pattern that begins here ends. */
function matchEnd(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}

function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === text[start]) return at + 1
    if (text[at] === '\\') at++
  }
  return text.length
}

/** Tells, from one place to the next, whether `?`, `&` or `#` stands before it and no blank between. */
function queryWatch(text: string, isForm: boolean): (place: number) => boolean {
  let [at, isQuery] = [0, isForm]
  return (place) => {
    for (; at < place; at++) {
      const c = text[at] as string
      if (c === '&' || c === '?' || c === '#') isQuery = true
      else if (c === '"' || c === '<' || c === '>' || c.trim() === '') isQuery = false
    }
    return isQuery
  }
}

/** The end of the line and of those that continue it: after a backslash, or set further in than the name's own. */
function endOfLines(text: string, key: number, start: number): number {
  const indent = indentOf(text, text.lastIndexOf('\n', key) + 1)
  let end = endOfLine(text, start)
  while (end < text.length) {
    const isContinued = text
      .slice(end - 2, end)
      .trimEnd()
      .endsWith('\\')
    const next = endOfLine(text, end + 1)
    if (!isContinued && next - end > 2 && indentOf(text, end + 1) <= indent) break
    end = next
  }
  return end
}

const endOfLine = (text: string, from: number): number => {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at
}

/** How far the line is set in; the mark of a list item counts. */
const indentOf = (text: string, lineStart: number): number =>
  matchEnd(/[ \t-]*/y, text, lineStart) - lineStart

/** A table whose first line names a secret column: all below is hidden. */
function findTable(text: string): Span[] {
  const [line = ''] = /^\s*[^\r\n]*/.exec(text) ?? []
  if (line.length === text.length || line.length > 4_096) return []
  const cells = line.split(/[,;\t|]/)
  const isSecret = cells.length > 1 && cells.some((cell) => isSecretName(cell.replaceAll(/["'\s]/g, '')))
  return isSecret ? [hide(line.length, text.length)] : []
}

/** What the group of a pattern with the flags `d` and `g` finds. */
function findMatches(text: string, pattern: RegExp): Span[] {
  const spans: Span[] = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
    spans.push(hide(...(match.indices?.[1] as [number, number])))
  return spans
}

function findPrivateKey(text: string): Span[] {
  const spans: Span[] = []
  privateKey.lastIndex = 0
  while (privateKey.test(text)) {
    const start = privateKey.lastIndex
    const end = text.indexOf('-----END', start)
    privateKey.lastIndex = end < 0 ? text.length : end
    spans.push(hide(start, privateKey.lastIndex))
  }
  return spans
}
