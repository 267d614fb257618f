// Adjusts old names and slugs to the current rules. All functions here are pure.
import { hasForbiddenCharacters, isLongerThan } from '@manager/manager/rules'

const maxNameLength = 100
const maxSlugLength = 64

/**
 * Returns the name if it is valid. Otherwise removes control characters and truncates the name, or uses the
 * fallback.
 */
export function fitName(name: string | null, fallback: string): string {
  const oldName = name ?? ''
  if (oldName.trim() !== '' && !hasForbiddenCharacters(oldName) && !isLongerThan(oldName, maxNameLength))
    return oldName
  const fittedName = fitText(oldName, maxNameLength).trim()
  return fittedName || fitText(fallback, maxNameLength).trim() || 'imported'
}

/** Removes control characters and broken Unicode, and truncates the text. */
export function fitText(text: string | null, maxLength: number): string {
  const oldText = text ?? ''
  if (!hasForbiddenCharacters(oldText) && !isLongerThan(oldText, maxLength)) return oldText
  const cleanText = oldText.toWellFormed().replace(/\p{Cc}/gu, ' ')
  return Array.from(cleanText.slice(0, 2 * maxLength))
    .slice(0, maxLength)
    .join('')
}

/** Names in use, and the next number for names with the same base. */
export type NamePool = { names: Set<string>; next: Map<string, number> }
export const createNamePool = (): NamePool => ({ names: new Set(), next: new Map() })

/** Reserves the first free name in the sequence `form(1)`, `form(2)`, and so on. `base` is their common part. */
export function reserveName(pool: NamePool, base: string, form: (number: number) => string): string {
  for (let number = pool.next.get(base) ?? 1; ; number++) {
    const name = form(number)
    if (pool.names.has(name)) continue
    pool.names.add(name)
    pool.next.set(base, number + 1)
    return name
  }
}

/** Creates a slug from text. If the slug is already in use, a number is added. */
export function fitSlug(text: string | null, fallback: string, pool: NamePool): string {
  const base = createSlug(text ?? '') || createSlug(fallback) || 'imported'
  return reserveName(pool, base, (number) => {
    const suffix = number === 1 ? '' : `-${number}`
    return `${trimHyphens(base.slice(0, maxSlugLength - suffix.length))}${suffix}`
  })
}

const createSlug = (text: string): string => {
  const plainText = text.slice(0, 1_000).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return trimHyphens(plainText.replace(/[^a-z0-9]+/g, '-').slice(0, maxSlugLength))
}

function trimHyphens(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && text[start] === '-') start++
  while (end > start && text[end - 1] === '-') end--
  return text.slice(start, end)
}
