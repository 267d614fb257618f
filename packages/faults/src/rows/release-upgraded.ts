// F31: a former release is exchanged for this one and back again, with the migration in between, under load. No request fails,
// and nobody waits longer for a lock than the migration may.
import { type UpgradeSeen, judgeUpgrade, playUpgrade } from '../drills/upgrade.ts'
import { defineDrilledRow } from '../drilled.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

const replicas = 3
const phaseSeconds = 4

export const f31: Row = defineDrilledRow<UpgradeSeen>({
  id: 'F31',
  title: 'a rolling upgrade from the former release with its migrations, and back, under load',
  limitSeconds: 420,
  play: (_options, say) => playUpgrade({ from: null, replicas, phaseSeconds, plants: [] }, say),
  judge: judgeUpgrade,
  mutants: [
    mutant('a request fails while a replica drains', 'failed', () => ({
      failures: [{ kind: 'read', at: 0, reason: 'other side closed' }],
    })),
    mutant('what was acknowledged is gone', 'missing', () => ({
      missing: [{ kind: 'write', id: 'a tenant', sentAt: 0, ackedAt: 1 }],
    })),
    mutant('the migration holds a lock for three seconds', 'max_lock_wait_ms', (seen) => ({
      lockWaits: [...seen.lockWaits, { ms: 3_000, what: 'relation AccessShareLock tenants' }],
    })),
    mutant('the former release refuses the new schema', 'former_refused', (seen) => ({
      back: { ...seen.back, refused: ['the schema is too new'] },
    })),
    mutant('a replica does not drain', 'bad_exits', (seen) => ({
      back: { ...seen.back, exits: ['SIGKILL'] },
    })),
    mutant('the audit trail is broken', 'audit_broken', (seen) => ({
      audit: { ...seen.audit, problems: ['BROKEN chain'] },
    })),
    mutant('the former release never serves again', 'by_former_again', (seen) => ({
      back: { ...seen.back, byArriving: 0 },
    })),
  ],
})
