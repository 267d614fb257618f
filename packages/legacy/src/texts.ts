// Makes old names and slugs fit the current rules. Pure.
import { hasForbiddenCharacters, isLongerThan } from '@manager/manager/rules'

const maxNameLength = 100
const maxSlugLength = 64

/** Returns the name if it is valid. Otherwise removes control characters and truncates it, or uses the fallback. */
export function fitName(name: string | null, fallback: string): string {
  const given = name ?? ''
  if (given.trim() !== '' && !hasForbiddenCharacters(given) && !isLongerThan(given, maxNameLength))
    return given
  const fitted = fitText(given, maxNameLength).trim()
  return fitted || fitText(fallback, maxNameLength).trim() || 'imported'
}

/** Removes control characters and broken Unicode, and truncates the text. */
export function fitText(text: string | null, maxLength: number): string {
  const given = text ?? ''
  if (!hasForbiddenCharacters(given) && !isLongerThan(given, maxLength)) return given
  const clean = given.toWellFormed().replace(/\p{Cc}/gu, ' ')
  return Array.from(clean.slice(0, 2 * maxLength))
    .slice(0, maxLength)
    .join('')
}

/** Names in use, and the next number for names with the same base. */
export type NamePool = { names: Set<string>; next: Map<string, number> }
export const createNamePool = (): NamePool => ({ names: new Set(), next: new Map() })

/** Returns the first free name of `form(1)`, `form(2)`, and so on. `base` is their common part. */
export function reserveName(pool: NamePool, base: string, form: (number: number) => string): string {
  for (let number = pool.next.get(base) ?? 1; ; number++) {
    const name = form(number)
    if (pool.names.has(name)) continue
    pool.names.add(name)
    pool.next.set(base, number + 1)
    return name
  }
}

/** Creates a slug from a text. A duplicate gets a number. */
export function fitSlug(text: string | null, fallback: string, pool: NamePool): string {
  const base = slugOf(text ?? '') || slugOf(fallback) || 'imported'
  return reserveName(pool, base, (number) => {
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
