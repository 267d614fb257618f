// Secrets by the name in front of them, in text of no known kind: what follows a sensitive name and `:` or `=`. Where
// the end of a value is not certain, it is the end of its lines. Pure.
import {
  beforeSeparator,
  betweenWords,
  classesAt,
  endsQuery,
  isSeparator,
  ofPath,
  ofWord,
  startsQuery,
} from './redact-characters.pure.ts'
import { endOfJson } from './redact-json.pure.ts'
import {
  isSecretName,
  lettersOf,
  maxLetters,
  type Meaning,
  meaningOf,
  meaningOfLetters,
} from './redact-keys.pure.ts'
import { hide, type Scan, type Span } from './redact-spans.pure.ts'
import type { Spend } from './redact-work.pure.ts'

const maxNameLength = 100
const nameValue = /^[^\w{}[\]<>]{0,8}([\w.[\]-]*)/
const severalParts = /[.[]/
const blankOrSign = /[\s=:>\\]*/y
const delimiter = /[ \t]*(?:$|[\r\n,})\];&>|/])/y
const restOfPair = /[^&]*/y
const indentation = /[ \t-]*/y

// Of a separator, a character in front of it, and a name that counts.
const [costOfSeparator, costOfCharacter, costOfFound] = [50, 4, 180]

/** Whether the text ends in a sensitive name and a separator. */
export function endsInKey(text: string, spend: Spend): boolean {
  const trimmed = text.trimEnd()
  const isKey = trimmed.endsWith('=') || trimmed.endsWith(':')
  return isKey && keyBefore(trimmed, trimmed.length - 1, spend).meaning === 'secret'
}

/** Finds the values of sensitive names; those of queries only in a form, which is a query from its beginning. */
export function findNamed(scan: Scan, isForm: boolean): void {
  const { text, spans } = scan
  const isInQuery = queryWatch(text, isForm)
  for (let index = nextSeparator(text, 0); index < text.length;) {
    const { start, meaning } = keyBefore(text, index, scan.spend)
    const isPair = text[index] === '=' && isInQuery(index)
    let next = index + 1
    if (meaning === 'secret' && (isForm || !isPair)) {
      const value = isPair ? hide(next, matchEnd(restOfPair, text, index)) : valueAfter(scan, start, index)
      scan.spend(costOfFound)
      spans.push(value)
      next = Math.max(value.end, next)
    } else if (meaning === 'name' && !isPair) {
      scan.spend(costOfFound)
      const [shown = '', word = ''] = nameValue.exec(text.slice(next, index + maxNameLength)) ?? []
      if (isSecretName(word, scan.spend)) {
        const object = text.lastIndexOf('{', index)
        // The secret is beside its name, but where is unknown.
        return void spans.push(hide(object < 0 ? next + shown.length : object + 1, text.length))
      }
    }
    index = nextSeparator(text, next)
  }
}

/** Where the next `=` or `:` is that does not follow another one, from here on. */
function nextSeparator(text: string, from: number): number {
  let isRepeated = from > 0 && (classesAt(text, from - 1) & isSeparator) !== 0
  for (let at = from; at < text.length; at++) {
    const isOne = (classesAt(text, at) & isSeparator) !== 0
    if (isOne && !isRepeated) return at
    isRepeated = isOne
  }
  return text.length
}

/** Where the characters of a class begin that end here. */
function startOf(classes: number, text: string, end: number, start = 0): number {
  let at = end
  while (at > start && (classesAt(text, at - 1) & classes) !== 0) at--
  return at
}

/**
 * The name in front of the separator; `api key` is one name in two words. Does not look beyond the separator before, so
 * that all looks together are as long as the text.
 */
function keyBefore(text: string, separator: number, spend: Spend): { start: number; meaning: Meaning } {
  spend(costOfSeparator)
  let at = startOf(beforeSeparator, text, separator)
  const path = pathBefore(text, at)
  spend((separator - at + path.length) * costOfCharacter)
  if (path !== '' && meaningOf(path, spend) === 'secret')
    return { start: at - path.length, meaning: 'secret' }
  let letters = ''
  let [start, meaning]: [number, Meaning] = [at, 'other']
  while (letters.length < maxLetters) {
    const end = at
    at = startOf(ofWord, text, end, Math.max(0, end - maxLetters))
    if (at === end) break
    letters = lettersOf(text.slice(at, end), spend) + letters
    const found = meaningOfLetters(letters)
    if (found === 'secret' || (found === 'name' && meaning === 'other')) [start, meaning] = [at, found]
    if (found === 'secret') break
    at = startOf(betweenWords, text, at)
    spend((end - at) * costOfCharacter)
  }
  return { start, meaning }
}

/** A name of several parts, such as `user[password][0`. */
function pathBefore(text: string, end: number): string {
  const path = text.slice(startOf(ofPath, text, end), end)
  return severalParts.test(path) ? path : ''
}

/** Where the value of a name is. */
function valueAfter(scan: Scan, key: number, separator: number): Span {
  const { text } = scan
  const start = matchEnd(blankOrSign, text, separator + 1)
  let end = start
  const first = text[start]
  if (first === '{' || first === '[') return hide(start, endOfJson(scan, start))
  if (first === '"' || first === "'" || first === '`') {
    end = endOfQuoted(text, start)
    const isDelimited = matchEnd(delimiter, text, end) > end || end === text.length
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

/** Tells, from one place to the next, whether `?`, `&` or `#` is before it and no blank between. */
function queryWatch(text: string, isForm: boolean): (place: number) => boolean {
  let [at, isQuery] = [0, isForm]
  return (place) => {
    for (; at < place; at++) {
      const classes = classesAt(text, at)
      if ((classes & startsQuery) !== 0) isQuery = true
      else if ((classes & endsQuery) !== 0) isQuery = false
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
  matchEnd(indentation, text, lineStart) - lineStart
