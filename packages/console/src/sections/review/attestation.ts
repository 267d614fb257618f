// Builds the attestations of a review from its decisions.
import { type Decision, type Entry, decisions } from './report.ts'

export type Draft = { readonly decision: Decision; readonly comment: string }
export type Drafts = ReadonlyMap<string, Draft>

/** The body of `POST /api/access/review/attest`. */
type AttestBody = {
  readonly report_id: string
  readonly population_hash: string
  readonly decision: Decision
  readonly comment: string
  readonly entries?: readonly AttestedEntry[]
}
export type AttestedEntry = {
  readonly entry_id: string
  readonly decision: Decision
  readonly justification?: string
}

export type Coverage = {
  readonly entries: readonly AttestedEntry[]
  readonly counts: Readonly<Record<Decision, number>>
  /** Number of entries without a decision, which the attestation does not cover. */
  readonly uncovered: number
  /** Whether the attestation covers the whole report. */
  readonly isWhole: boolean
  /** Number of covered entries to modify or revoke without a comment. */
  readonly unexplained: number
  /** The decision about the report as a whole: the common one, or `modify` if the decisions differ. */
  readonly overall: Decision
}

/** The API accepts this many entries, and bodies of up to 4 MiB. */
const limits = { entries: 10_000, bytes: 3_500_000 }

/** The decisions of a review. */
type Decided = {
  readonly drafts: Drafts
  /** Entries that are attested already. They are covered again only if they have a new decision. */
  readonly attested: Pick<ReadonlySet<string>, 'has'>
  /** The decision about the entries that have none; null omits them. */
  readonly rest: Decision | null
}

/** Determines what an attestation covers. */
export function getCoverage(all: readonly Entry[], { drafts, attested, rest }: Decided): Coverage {
  const entries = all.filter(({ entry_id }) => drafts.has(entry_id) || !attested.has(entry_id))
  const covered = entries.flatMap(({ entry_id }): AttestedEntry[] => {
    const draft = drafts.get(entry_id)
    const decision = draft?.decision ?? rest
    if (decision === null) return []
    const justification = draft?.comment.trim() ?? ''
    return [{ entry_id, decision, ...(justification === '' ? {} : { justification }) }]
  })
  const count = (wanted: Decision): number => covered.filter(({ decision }) => decision === wanted).length
  const counts = { approve: count('approve'), modify: count('modify'), revoke: count('revoke') }
  const used = decisions.filter((decision) => counts[decision] > 0)
  return {
    entries: covered,
    counts,
    uncovered: entries.length - covered.length,
    isWhole: covered.length === all.length,
    unexplained: covered.filter(
      ({ decision, justification }) => decision !== 'approve' && justification === undefined,
    ).length,
    overall: used.length === 1 ? (used[0] ?? 'modify') : 'modify',
  }
}

type Base = Pick<AttestBody, 'report_id' | 'population_hash' | 'comment'>

/**
 * Returns the requests that record the coverage. An attestation without entries covers all of them with one decision;
 * otherwise it names each entry, and several attestations are needed if there are too many.
 */
export function planAttestations(base: Base, { entries, isWhole, overall }: Coverage): AttestBody[] {
  const isUniform = entries.every(
    ({ decision, justification }) => decision === overall && justification === undefined,
  )
  if (isWhole && isUniform) return [{ ...base, decision: overall }]
  return splitEntries(entries).map((part) => ({ ...base, decision: overall, entries: part }))
}

function splitEntries(entries: readonly AttestedEntry[]): AttestedEntry[][] {
  const encoder = new TextEncoder()
  const parts: AttestedEntry[][] = []
  let bytes = 0
  for (const entry of entries) {
    const size = encoder.encode(JSON.stringify(entry)).length + 1
    const last = parts.at(-1)
    if (last === undefined || last.length === limits.entries || bytes + size > limits.bytes) {
      parts.push([entry])
      bytes = size
    } else {
      last.push(entry)
      bytes += size
    }
  }
  return parts
}
