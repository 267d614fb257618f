// Old names and slugs, made to fit today's rules. Pure.
import { hasForbiddenCharacters, isLongerThan } from '@manager/manager/rules'

const maxNameLength = 100
const maxSlugLength = 64

/** The name if it fits; else what is left of it without control characters, cut; else the fallback. */
export function fitName(name: string | null, fallback: string): string {
  const given = name ?? ''
  if (given.trim() !== '' && !hasForbiddenCharacters(given) && !isLongerThan(given, maxNameLength))
    return given
  const fitted = fitText(given, maxNameLength).trim()
  return fitted || fitText(fallback, maxNameLength).trim() || 'imported'
}

/** Without control characters and broken Unicode, and cut. */
export function fitText(text: string | null, maxLength: number): string {
  const given = text ?? ''
  if (!hasForbiddenCharacters(given) && !isLongerThan(given, maxLength)) return given
  const clean = given.toWellFormed().replace(/\p{Cc}/gu, ' ')
  return Array.from(clean.slice(0, 2 * maxLength))
    .slice(0, maxLength)
    .join('')
}

/** Names that are in use, and where to go on counting those that begin alike. */
export type Taken = { names: Set<string>; next: Map<string, number> }
export const noneTaken = (): Taken => ({ names: new Set(), next: new Map() })

/** The first of `form(1)`, `form(2)`, … that is free; `base` is what they have in common. */
export function firstFree(taken: Taken, base: string, form: (number: number) => string): string {
  for (let number = taken.next.get(base) ?? 1; ; number++) {
    const name = form(number)
    if (taken.names.has(name)) continue
    taken.names.add(name)
    taken.next.set(base, number + 1)
    return name
  }
}

/** A slug made of a text; a second one like it gets a number. */
export function fitSlug(text: string | null, fallback: string, taken: Taken): string {
  const base = slugOf(text ?? '') || slugOf(fallback) || 'imported'
  return firstFree(taken, base, (number) => {
    const ending = number === 1 ? '' : `-${number}`
    return `${trimHyphens(base.slice(0, maxSlugLength - ending.length))}${ending}`
  })
}

const slugOf = (text: string): string => {
  const plain = text.slice(0, 1_000).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return trimHyphens(plain.replace(/[^a-z0-9]+/g, '-').slice(0, maxSlugLength))
}

function trimHyphens(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && text[start] === '-') start++
  while (end > start && text[end - 1] === '-') end--
  return text.slice(start, end)
}
