// Adds chains that are marked as verified up to their heads. Their rows do not exist, because verification reads only
// new rows.
import { createHash, randomUUID } from 'node:crypto'
import { createQuery } from '../../src/platform/audit/rows.ts'
import {
  type Mark,
  claimVerification,
  createInitialState,
  releaseVerification,
  saveVerification,
} from '../../src/platform/audit/verification-marks.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import { macKey } from './trail.ts'

const rowsEach = 5

/** Adds `count` chain heads of five rows each, with the marks of both passes. Returns the total number of rows. */
export async function addVerifiedChains({ db }: Pick<Database, 'db'>, count: number): Promise<number> {
  const [query, leaseId] = [createQuery(db.write), randomUUID()]
  const state = (await claimVerification(query, macKey, leaseId)) ?? createInitialState()
  for (let left = count; left > 0; left -= 5_000) {
    const heads = Array.from({ length: Math.min(5_000, left) }, () => {
      const chainId = randomUUID()
      return { chainId, seq: rowsEach, hash: createHash('sha256').update(chainId).digest() }
    })
    const marks = heads.flatMap((head): Mark[] => [
      { ...head, pass: 'new', round: 0, checkpointSeq: 0, broken: null },
      { ...head, pass: 'again', round: 1, checkpointSeq: 0, broken: null },
    ])
    await saveVerification(query, macKey, leaseId, { state, marks })
    await query(
      `insert into audit_chains (chain_id, seq, hash)
       select chain_id, $2, decode(hash, 'hex') from unnest($1::uuid[], $3::text[]) as c (chain_id, hash)`,
      [heads.map(({ chainId }) => chainId), rowsEach, heads.map(({ hash }) => hash.toString('hex'))],
    )
  }
  await releaseVerification(query, leaseId)
  return count * rowsEach
}
