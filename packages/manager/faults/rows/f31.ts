// F31: a former release is exchanged for this one and back again, with the migration in between, under load. No request fails,
// and nobody waits longer for a lock than the migration may.
import { type UpgradeSeen, judgeUpgrade, playUpgrade } from '../../drills/upgrade.ts'
import { defineDrilledRow } from '../drilled.ts'
import type { Row } from '../row.ts'

const replicas = 3
const phaseSeconds = 4

export const f31: Row = defineDrilledRow<UpgradeSeen>({
  id: 'F31',
  title: 'a rolling upgrade from the former release with its migrations, and back, under load',
  limitSeconds: 420,
  play: (_options, say) => playUpgrade({ from: null, replicas, phaseSeconds, plants: [] }, say),
  judge: judgeUpgrade,
  mutants: [
    {
      name: 'a request fails while a replica drains',
      breaks: 'failed',
      plant: (seen) => ({ ...seen, failures: [{ kind: 'read', at: 0, reason: 'other side closed' }] }),
    },
    {
      name: 'what was acknowledged is gone',
      breaks: 'missing',
      plant: (seen) => ({ ...seen, missing: [{ kind: 'write', id: 'a tenant', sentAt: 0, ackedAt: 1 }] }),
    },
    {
      name: 'the migration holds a lock for three seconds',
      breaks: 'max_lock_wait_ms',
      plant: (seen) => ({
        ...seen,
        lockWaits: [...seen.lockWaits, { ms: 3_000, what: 'relation AccessShareLock tenants' }],
      }),
    },
    {
      name: 'the former release refuses the new schema',
      breaks: 'former_refused',
      plant: (seen) => ({ ...seen, back: { ...seen.back, refused: ['the schema is too new'] } }),
    },
    {
      name: 'a replica does not drain',
      breaks: 'bad_exits',
      plant: (seen) => ({ ...seen, back: { ...seen.back, exits: ['SIGKILL'] } }),
    },
    {
      name: 'the audit trail is broken',
      breaks: 'audit_broken',
      plant: (seen) => ({ ...seen, audit: { ...seen.audit, problems: ['BROKEN chain'] } }),
    },
    {
      name: 'the former release never serves again',
      breaks: 'by_former_again',
      plant: (seen) => ({ ...seen, back: { ...seen.back, byArriving: 0 } }),
    },
  ],
})
