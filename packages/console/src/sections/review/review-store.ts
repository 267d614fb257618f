// The open reviews of this tab. A review stays open while the person visits other pages, for example to revoke access.
// It is only in memory: the API stores no decisions before the attestation.
import { useSyncExternalStore } from 'react'
import { queryClient } from '../../api/query-client.ts'
import { type ShellMeResult, shellMeDocument } from '../../generated/documents.ts'
import type { AttestedEntry, Draft, Drafts } from './attestation.ts'
import type { Decision, Entry, Report } from './report.ts'

export type Attested = {
  readonly ids: readonly string[]
  readonly at: string
  readonly comment: string
  readonly counts: Readonly<Record<Decision, number>>
  /** Number of entries that it covers. */
  readonly covered: number
}

/** The differences from the previous report of the same review. */
type Changes = { readonly added: number; readonly removed: number; readonly changed: number }

export type Review = {
  readonly ownerId: string
  readonly report: Report
  readonly drafts: Drafts
  /** The decisions that are attested in this review. */
  readonly attestedEntries: Drafts
  readonly attested: Attested | null
  readonly changes: Changes | null
}

let reviews: ReadonlyMap<string, Review> = new Map()
const listeners = new Set<() => void>()

function setReview(scope: string, review: Review | null): void {
  // A review without decisions can be generated again, so only the current one is kept.
  const kept = [...reviews].filter(([key, { drafts }]) => key !== scope && drafts.size > 0)
  reviews = new Map(review === null ? kept : [...kept, [scope, review]])
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns the open review of a scope; undefined if there is none, or if another person started it. */
export function useReview(scope: string, ownerId: string | undefined): Review | undefined {
  const review = useSyncExternalStore(subscribe, () => reviews.get(scope))
  return review?.ownerId === ownerId ? review : undefined
}

export const closeReview = (scope: string): void => setReview(scope, null)

const isSame = (a: Entry, b: Entry): boolean =>
  a.enabled === b.enabled && a.expires_at === b.expires_at && a.role === b.role

/** Opens a report. Decisions about entries that are the same as in the previous report are kept. */
export function openReport(scope: string, ownerId: string, report: Report): void {
  const previous = reviews.get(scope)
  if (previous === undefined || previous.ownerId !== ownerId) {
    setReview(scope, {
      ownerId,
      report,
      drafts: new Map(),
      attestedEntries: new Map(),
      attested: null,
      changes: null,
    })
    return
  }
  const before = new Map(previous.report.entries.map((entry) => [entry.entry_id, entry]))
  const after = new Map(report.entries.map((entry) => [entry.entry_id, entry]))
  const isKept = (id: string): boolean => {
    const [old, current] = [before.get(id), after.get(id)]
    return old !== undefined && current !== undefined && isSame(old, current)
  }
  setReview(scope, {
    ...previous,
    report,
    drafts: new Map([...previous.drafts].filter(([id]) => isKept(id))),
    attestedEntries: new Map([...previous.attestedEntries].filter(([id]) => isKept(id))),
    changes: {
      added: report.entries.filter(({ entry_id }) => !before.has(entry_id)).length,
      removed: previous.report.entries.filter(({ entry_id }) => !after.has(entry_id)).length,
      changed: report.entries.filter(({ entry_id }) => before.has(entry_id) && !isKept(entry_id)).length,
    },
  })
}

/** Sets the decisions about entries; null removes them. */
export function decide(scope: string, ids: readonly string[], draft: Draft | null): void {
  const review = reviews.get(scope)
  if (review === undefined) return
  const drafts = new Map(review.drafts)
  for (const id of ids) {
    if (draft === null) drafts.delete(id)
    else drafts.set(id, draft)
  }
  setReview(scope, { ...review, drafts })
}

/** Turns decisions into attested ones. */
export function recordAttested(scope: string, entries: readonly AttestedEntry[], attested: Attested): void {
  const review = reviews.get(scope)
  if (review === undefined) return
  const drafts = new Map(review.drafts)
  const attestedEntries = new Map(review.attestedEntries)
  for (const { entry_id, decision, justification = '' } of entries) {
    drafts.delete(entry_id)
    attestedEntries.set(entry_id, { decision, comment: justification })
  }
  setReview(scope, { ...review, drafts, attestedEntries, attested })
}

/** Asks before the tab closes with decisions that are not attested, unless another person has signed in. */
addEventListener('beforeunload', (event) => {
  const id = queryClient.getQueryData<ShellMeResult>([shellMeDocument, {}])?.me.id
  if ([...reviews.values()].some(({ ownerId, drafts }) => drafts.size > 0 && ownerId === id))
    event.preventDefault()
})
