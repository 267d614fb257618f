// F33: a database under load is backed up, destroyed, and restored on a new server from the base backup and the
// archived WAL. All acknowledged data exists, the audit chain is intact, secrets can be opened, and triggers fire.
import { playRestore } from '../drills/restore.ts'
import { type RestoreSeen, judgeRestore } from '../drills/restore-judge.ts'
import type { Inspection } from '../drills/restored.ts'
import { defineDrillRow } from '../drill-row.ts'
import type { Mutant, Row } from '../row.ts'
import { mutant } from '../plant.ts'

const seconds = 8

/** Creates a mutant of the restored installation that has these differences. */
const changed = (name: string, breaks: string, change: Partial<Inspection>): Mutant<RestoreSeen> =>
  mutant(name, breaks, ({ inspection }) => ({
    inspection: inspection === null ? null : { ...inspection, ...change },
  }))

export const f33: Row = defineDrillRow<RestoreSeen>({
  id: 'F33',
  title: 'back up under load, destroy, restore from pg_basebackup and the archived WAL',
  limitSeconds: 300,
  play: (_options, log) => playRestore({ method: 'archive', seconds, plants: [] }, log),
  judge: judgeRestore,
  mutants: [
    mutant('a tenant in the backup is missing', 'missing', (seen) => ({
      inspection:
        seen.inspection === null ? null : { ...seen.inspection, missing: seen.acknowledged.slice(0, 1) },
    })),
    mutant('the archive stops 5 s before the end', 'RPO_s', (seen) => {
      const from = seen.destroyedAt - 5_000
      const missing = seen.acknowledged.filter(({ ackedAt }) => ackedAt >= from)
      return {
        completeUntil: from,
        inspection: seen.inspection === null ? null : { ...seen.inspection, missing },
      }
    }),
    mutant('the restore takes an hour', 'RTO_s', () => ({ rtoSeconds: 3_600 })),
    mutant('the service does not start', 'not_started', () => ({
      notStarted: ['the master key is wrong'],
    })),
    changed('the chain is broken', 'audit_broken', {
      audit: { rows: 1, checkpoints: 1, problems: ['BROKEN chain'] },
    }),
    changed('a key is missing', 'keys_missing', { keysMissing: ['drill MISSING 2 secrets'] }),
    changed('a secret cannot be decrypted', 'secrets_unreadable', {
      secretsUnreadable: ['the call returned 500'],
    }),
    changed('a token is rejected', 'tokens_refused', { tokensRefused: ['the token check returned 401'] }),
    changed('the bytes of a pilet differ', 'pilets_broken', { piletsBroken: ['1.0.0 (200)'] }),
    changed('new rows do not match the chain', 'broken_after_restore', {
      brokenAfterRestore: ['BROKEN chain'],
    }),
    changed('a trigger does not fire', 'unfired', { unfired: ['a trigger'] }),
  ],
})
