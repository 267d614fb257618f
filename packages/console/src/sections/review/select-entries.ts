// Filters and orders the entries of a report. The report is complete, so the page needs no requests for this.
import type { AddressSearch } from '../../app/list-search.ts'
import type { Sort } from '../../kit/data-table.tsx'
import type { Draft, Drafts } from './attestation.ts'
import {
  type Decision,
  type Entry,
  decisions,
  flags,
  principalTypes,
  recommendations,
  scopeTypes,
} from './report.ts'

/** States of an entry in this review: not decided, decided but not attested, attested, or one decision. */
export const entryStates = ['open', 'decided', 'attested', ...decisions] as const
type EntryState = (typeof entryStates)[number]

type EntryFilter = {
  readonly text: string
  readonly advice: Entry['recommendation'] | null
  readonly flag: Entry['flags'][number] | null
  readonly principal: Entry['principal_type'] | null
  readonly scope: Entry['scope_type'] | null
  readonly state: EntryState | null
}

const find = <Value extends string>(values: readonly Value[], text: string | undefined): Value | null =>
  values.find((value) => value === text) ?? null

export const readEntryFilter = (search: AddressSearch): EntryFilter => ({
  text: (search['q'] ?? '').toLowerCase(),
  advice: find(recommendations, search['advice']),
  flag: find(flags, search['flag']),
  principal: find(principalTypes, search['principal']),
  scope: find(scopeTypes, search['on']),
  state: find(entryStates, search['state']),
})

/** Search parameters that remove all filters. */
export const noFilters = {
  q: undefined,
  advice: undefined,
  flag: undefined,
  principal: undefined,
  on: undefined,
  state: undefined,
} as const satisfies AddressSearch

export const isFiltered = (search: AddressSearch): boolean =>
  Object.keys(noFilters).some((key) => search[key] !== undefined)

/** The decisions of a review so far. */
export type Progress = {
  readonly drafts: Drafts
  /** The decisions that are attested in this review. */
  readonly attested: ReadonlyMap<string, Draft>
}

/** Returns the decision about an entry in this review with its comment; undefined if there is none yet. */
export const findDraft = ({ entry_id }: Entry, { drafts, attested }: Progress): Draft | undefined =>
  drafts.get(entry_id) ?? attested.get(entry_id)

export const findDecision = (entry: Entry, progress: Progress): Decision | null =>
  findDraft(entry, progress)?.decision ?? null

function isInState(entry: Entry, state: EntryState, progress: Progress): boolean {
  const { drafts, attested } = progress
  if (state === 'decided') return drafts.has(entry.entry_id)
  if (state === 'attested') return attested.has(entry.entry_id) && !drafts.has(entry.entry_id)
  const decision = findDecision(entry, progress)
  return state === 'open' ? decision === null : decision === state
}

export function filterEntries(
  entries: readonly Entry[],
  { text, advice, flag, principal, scope, state }: EntryFilter,
  progress: Progress,
): readonly Entry[] {
  return entries.filter(
    (entry) =>
      (advice === null || entry.recommendation === advice) &&
      (flag === null || entry.flags.includes(flag)) &&
      (principal === null || entry.principal_type === principal) &&
      (scope === null || entry.scope_type === scope) &&
      (state === null || isInState(entry, state, progress)) &&
      (text === '' ||
        [entry.name, entry.email, entry.scope_name, entry.role, entry.principal_id].some((value) =>
          value.toLowerCase().includes(text),
        )),
  )
}

/** Entries to revoke come first, then those with the most flags. */
const computeRank = ({ recommendation, flags: own }: Entry): number =>
  recommendations.indexOf(recommendation) * 100 - own.length

const collator = new Intl.Collator(undefined, { numeric: true })
const compareNames = (a: Entry, b: Entry): number =>
  collator.compare(a.name, b.name) ||
  collator.compare(a.scope_name, b.scope_name) ||
  collator.compare(a.role, b.role)

const comparers: Readonly<Record<string, (a: Entry, b: Entry) => number>> = {
  name: compareNames,
  access: (a, b) => collator.compare(a.scope_name, b.scope_name) || compareNames(a, b),
  role: (a, b) => collator.compare(a.role, b.role) || compareNames(a, b),
  activity: (a, b) =>
    Date.parse(a.last_activity_at ?? '1970-01-01') - Date.parse(b.last_activity_at ?? '1970-01-01') ||
    compareNames(a, b),
}

/** Sorts by a column; without a known one, by urgency. */
export function sortEntries(entries: readonly Entry[], sort: Sort): readonly Entry[] {
  const compare = comparers[sort.field]
  if (compare === undefined)
    return entries.toSorted((a, b) => computeRank(a) - computeRank(b) || compareNames(a, b))
  return entries.toSorted((a, b) => (sort.direction === 'ASC' ? compare(a, b) : compare(b, a)))
}
