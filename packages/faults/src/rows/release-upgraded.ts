// F31: under load, the database of the previous release is migrated, and the replicas are upgraded to this release and
// rolled back. No request fails, and no session waits for a lock longer than the migration allows.
import { type UpgradeSeen, judgeUpgrade, playUpgrade } from '../drills/upgrade.ts'
import { defineDrillRow } from '../drill-row.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

const replicas = 3
const phaseSeconds = 4

export const f31: Row = defineDrillRow<UpgradeSeen>({
  id: 'F31',
  title: 'a rolling upgrade from the previous release with migrations, and a rollback, under load',
  limitSeconds: 420,
  play: (_options, log) => playUpgrade({ from: null, replicas, phaseSeconds, plants: [] }, log),
  judge: judgeUpgrade,
  mutants: [
    mutant('a request fails while a replica drains', 'failed', () => ({
      failures: [{ kind: 'read', at: 0, reason: 'other side closed' }],
    })),
    mutant('acknowledged data is missing', 'missing', () => ({
      missing: [{ kind: 'write', id: 'a tenant', sentAt: 0, ackedAt: 1 }],
    })),
    mutant('the migration holds a lock for 3 s', 'max_lock_wait_ms', (seen) => ({
      lockWaits: [...seen.lockWaits, { ms: 3_000, what: 'relation AccessShareLock tenants' }],
    })),
    mutant('the previous release rejects the new schema', 'previous_refused', (seen) => ({
      back: { ...seen.back, refused: ['the schema is too new'] },
    })),
    mutant('a replica does not drain', 'bad_exits', (seen) => ({
      back: { ...seen.back, exits: ['SIGKILL'] },
    })),
    mutant('the audit trail is broken', 'audit_broken', (seen) => ({
      audit: { ...seen.audit, problems: ['BROKEN chain'] },
    })),
    mutant('the previous release serves no requests after the rollback', 'by_previous_again', (seen) => ({
      back: { ...seen.back, servedByNew: 0 },
    })),
  ],
})
