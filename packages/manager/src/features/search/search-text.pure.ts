// Validates the arguments of a search and ranks its matches.
import { badRequest } from '../../platform/errors.ts'
import { isRequestId, parseUuid } from '../../platform/ids.ts'
import { checkText } from '../../platform/inputs/inputs.ts'

/** Kinds that are found by part of one of their texts. */
export const textKinds = [
  ...(['project', 'tenant', 'application', 'endpoint', 'trigger', 'machineUser'] as const),
  ...(['languagePack', 'piletPackage', 'user'] as const),
]
export type TextKind = (typeof textKinds)[number]
/** Kinds that are found by their id. */
export const idKinds = [...textKinds, 'environment', 'triggerRun'] as const
export type IdKind = (typeof idKinds)[number]
export type Kind = IdKind | 'loggedCall'
const kinds: readonly Kind[] = [...idKinds, 'loggedCall']

export type SearchArgs = {
  text: string
  kinds?: readonly string[] | null
  projectId?: string | null
  limit?: number | null
}
/**
 * A validated search. `id`, `requestId` and `text` are the values to match. A value is null if the search text cannot
 * be such a value.
 */
export type SearchQuery = {
  id: string | null
  requestId: string | null
  text: string | null
  kinds: ReadonlySet<Kind>
  limit: number
}

const maxTextLength = 200
const minTextLength = 3
const [defaultLimit, maxLimit] = [20, 50]

/** Validates the arguments of a search; error messages name the allowed values. */
export function readSearch(args: SearchArgs): SearchQuery {
  const text = checkText(args.text, 'text', maxTextLength).trim()
  const searchedKinds = readKinds(args.kinds ?? [])
  const limit = args.limit ?? defaultLimit
  if (limit < 1 || limit > maxLimit) throw badRequest(`limit must be from 1 to ${maxLimit}`)
  const id = parseUuid(text)
  const searchesTexts = id === null && textKinds.some((kind) => searchedKinds.has(kind))
  if (text === '' || searchesTexts) checkSearchable(text)
  return {
    id,
    requestId: isRequestId(text) ? text : null,
    text: searchesTexts ? text : null,
    kinds: searchedKinds,
    limit,
  }
}

function readKinds(names: readonly string[]): ReadonlySet<Kind> {
  if (names.length > kinds.length) throw badRequest(`kinds must have at most ${kinds.length} entries`)
  const unknown = names.find((name) => !kinds.some((kind) => kind === name))
  if (unknown !== undefined)
    throw badRequest(`unknown kind "${unknown.slice(0, 100)}"; allowed: ${kinds.join(', ')}`)
  return new Set(names.length === 0 ? kinds : (names as readonly Kind[]))
}

/** Throws unless the trigram indexes can find the text: without a trigram, PostgreSQL would read every row. */
function checkSearchable(text: string): void {
  if (Array.from(text).length < minTextLength)
    throw badRequest(
      `text must have at least ${minTextLength} characters, because the search index does not support shorter texts; pass a longer text or a complete id`,
    )
  if (!hasTrigram(text))
    throw badRequest(
      'text must contain three consecutive letters or digits, because the search index requires them; pass a longer text or a complete id',
    )
}

/**
 * Whether pg_trgm finds a trigram in the pattern `%text%`. Words that start within the text are preceded by two spaces,
 * and words that end within it are followed by one.
 */
export function hasTrigram(text: string): boolean {
  return [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].some(({ 0: word, index }) => {
    const startsInsideText = index > 0
    const endsInsideText = index + word.length < text.length
    return Array.from(word).length + (startsInsideText ? 2 : 0) + (endsInsideText ? 1 : 0) >= minTextLength
  })
}

/** 0 if the text is a whole value, 1 if a value starts with the text, 2 if a value contains the text elsewhere. */
type Rank = 0 | 1 | 2

/** Returns the best match of the text among the values of an object, and the position of the value. */
export function rankTexts(values: readonly string[], text: string): { rank: Rank; position: number } {
  const searchedText = text.toLowerCase()
  const ranks = values.map((value) => rankText(value.toLowerCase(), searchedText))
  const rank = ([0, 1, 2] as const).find((one) => ranks.includes(one)) ?? 2
  // The database may fold letters that JavaScript does not. Such a match is attributed to the first value.
  return { rank, position: Math.max(0, ranks.indexOf(rank)) }
}

function rankText(value: string, searched: string): Rank | null {
  if (value === searched) return 0
  if (value.startsWith(searched)) return 1
  return value.includes(searched) ? 2 : null
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** Orders hits by match, title, kind and id. */
export const compareHits = (
  a: { rank: Rank; title: string; kind: Kind; id: string },
  b: { rank: Rank; title: string; kind: Kind; id: string },
): number =>
  a.rank - b.rank ||
  compare(a.title.toLowerCase(), b.title.toLowerCase()) ||
  kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
  compare(a.id, b.id)
