// Reports how far the audit chain of a project is verified. It reads the stored progress and verifies nothing, so the
// cost does not depend on the number of entries.
import { trailProblem } from '../../platform/audit/verify-part.ts'
import type { KeyObject } from 'node:crypto'
import { type BrokenRow, createQuery, readHeads } from '../../platform/audit/rows.ts'
import { describeForgedMark, readMarks, readState } from '../../platform/audit/verification-marks.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { findVerificationTimes } from './audit.store.ts'

type ChainProgress = {
  status: 'ok' | 'broken' | 'unverified' | 'empty'
  entries: number
  verifiedSeq: number
  verifiedAt: string | null
  firstBrokenSeq: number | null
  reason: string | null
  checkpointAt: string | null
}
export type ReadChainProgress = (projectId: string) => Promise<ChainProgress>

export function createChainProgress({ db, macKey }: { db: Db; macKey: KeyObject }): ReadChainProgress {
  const query = createQuery(db.read)
  return async (projectId) => {
    const state = await readState(query, macKey)
    const { marks, forgedChainIds } = await readMarks(query, macKey, [projectId], ['new'])
    const [mark] = marks
    // Read the head after the mark. Otherwise, entries that are appended between the two reads would seem to be
    // missing.
    const entries = (await readHeads(query, [projectId])).get(projectId)?.seq ?? 0
    const verifiedSeq = mark?.seq ?? 0
    const missingEntries: BrokenRow | null =
      entries < verifiedSeq
        ? {
            seq: entries + 1,
            reason: `${verifiedSeq} entries were verified, but the chain has only ${entries}`,
          }
        : null
    const brokenRow =
      (forgedChainIds.length > 0 ? createFinding(describeForgedMark(projectId)) : null) ??
      mark?.broken ??
      missingEntries ??
      createFinding((state?.problem ?? null) === null ? null : trailProblem)
    return {
      status: brokenRow === null ? describeProgress(entries, verifiedSeq) : 'broken',
      entries,
      verifiedSeq,
      firstBrokenSeq: brokenRow === null || brokenRow.seq === 0 ? null : brokenRow.seq,
      reason: brokenRow?.reason ?? null,
      ...(await findVerificationTimes(db.read, mark?.checkpointSeq ?? 0)),
    }
  }
}

const describeProgress = (entries: number, verifiedSeq: number): ChainProgress['status'] => {
  if (entries === 0) return 'empty'
  return verifiedSeq === 0 ? 'unverified' : 'ok'
}

/** Returns a finding about the whole chain, which names no entry. */
const createFinding = (reason: string | null): BrokenRow | null =>
  reason === null ? null : { seq: 0, reason }
