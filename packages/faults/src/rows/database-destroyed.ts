// F33: a database under load is backed up and destroyed, and comes back from its base backup and the archive of its WAL, on
// another server. What was acknowledged is there, the chain is whole, secrets open, and triggers fire.
import { playRestore } from '../drills/restore.ts'
import { type RestoreSeen, judgeRestore } from '../drills/restore-judge.ts'
import type { Looked } from '../drills/restored.ts'
import { defineDrilledRow } from '../drilled.ts'
import type { Mutant, Row } from '../row.ts'
import { mutant } from '../plant.ts'

const seconds = 8

/** A restored installation in which this is not as it was. */
const changed = (name: string, breaks: string, change: Partial<Looked>): Mutant<RestoreSeen> =>
  mutant(name, breaks, ({ looked }) => ({ looked: looked === null ? null : { ...looked, ...change } }))

export const f33: Row = defineDrilledRow<RestoreSeen>({
  id: 'F33',
  title: 'back up under load, destroy, restore from pg_basebackup and the archived WAL',
  limitSeconds: 300,
  play: (_options, say) => playRestore({ method: 'archive', seconds, plants: [] }, say),
  judge: judgeRestore,
  mutants: [
    mutant('a tenant that the backup holds is gone', 'missing', (seen) => ({
      looked: seen.looked === null ? null : { ...seen.looked, missing: seen.acknowledged.slice(0, 1) },
    })),
    mutant('the archive stops five seconds before the end', 'RPO_s', (seen) => {
      const from = seen.destroyedAt - 5_000
      const missing = seen.acknowledged.filter(({ ackedAt }) => ackedAt >= from)
      return {
        holdsUntil: from,
        looked: seen.looked === null ? null : { ...seen.looked, missing },
      }
    }),
    mutant('the restore takes an hour', 'RTO_s', () => ({ rtoSeconds: 3_600 })),
    mutant('the service does not start', 'not_started', () => ({
      notStarted: ['the master key is another'],
    })),
    changed('the chain is broken', 'audit_broken', {
      audit: { rows: 1, checkpoints: 1, problems: ['BROKEN chain'] },
    }),
    changed('a key is missing', 'keys_missing', { keysMissing: ['drill is missing: 2 secrets'] }),
    changed('a secret does not open', 'secrets_closed', { secretsClosed: ['the call is answered 500'] }),
    changed('a token is refused', 'tokens_refused', { tokensRefused: ['the token is answered 401'] }),
    changed('a pilet has other bytes', 'pilets_broken', { piletsBroken: ['1.0.0 (200)'] }),
    changed('new rows do not fit the chain', 'broken_since', { brokenSince: ['BROKEN chain'] }),
    changed('a trigger does not fire', 'unfired', { unfired: ['a trigger'] }),
  ],
})
