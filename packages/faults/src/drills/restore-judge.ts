// What must hold of a restore; a function of what was seen.
import { type Verdict, createVerdict } from '../verdict.ts'
import type { Method } from './backup.ts'
import type { Acknowledged } from './load.ts'
import type { Looked } from './restored.ts'

export type RestoreSeen = {
  method: Method
  backupSeconds: number
  /** Calls that failed before the database was destroyed. */
  failed: string[]
  acknowledged: Acknowledged[]
  /** What was acknowledged before this is in the backup. */
  holdsUntil: number
  destroyedAt: number
  restoreSeconds: number
  /** From the start of the restore, and from the loss of the database, until the service was ready. */
  readySeconds: number
  rtoSeconds: number
  notStarted: string[]
  looked: Looked | null
  minutes: number
}
type Figures = ReturnType<typeof createVerdict>

// Of a drill, whose database is small; with an archive, changes are lost that were not received yet.
const rtoSeconds = 120
const rpoSeconds = 1

export function judgeRestore(seen: RestoreSeen): Verdict {
  const figures = createVerdict()
  figures.show('method', seen.method)
  figures.show('backup_s', seen.backupSeconds)
  figures.none('failed', seen.failed)
  figures.show('restore_s', seen.restoreSeconds)
  figures.none('not_started', seen.notStarted)
  figures.show('ready_s', seen.readySeconds)
  if (seen.looked !== null) {
    judgeRows(figures, seen, seen.looked)
    judgeLooked(figures, seen, seen.looked)
  }
  figures.atMost('RTO_s', seen.rtoSeconds, rtoSeconds)
  figures.show('minutes', seen.minutes)
  return figures.verdict
}

/** What was acknowledged before the backup ended is there; how old the oldest is of what came later and is lost. */
function judgeRows(figures: Figures, seen: RestoreSeen, { missing, rows }: Looked): void {
  const { acknowledged, holdsUntil, destroyedAt } = seen
  const isHeld = ({ ackedAt }: Acknowledged): boolean => ackedAt < holdsUntil
  const before = acknowledged.filter(isHeld)
  figures.atLeast('acknowledged', before.length, 1)
  figures.none(
    'missing',
    missing.filter(isHeld).map(({ kind, id }) => `${kind} ${id}`),
  )
  figures.show('after_backup', acknowledged.length - before.length)
  figures.show('of_them_lost', missing.filter((one) => !isHeld(one)).length)
  const oldest = Math.min(destroyedAt, ...missing.map(({ ackedAt }) => ackedAt))
  const lostSeconds = (destroyedAt - oldest) / 1_000
  if (seen.method === 'archive') figures.atMost('RPO_s', lostSeconds, rpoSeconds)
  else figures.show('RPO_s', lostSeconds)
  figures.show('rows', rows)
}

function judgeLooked(figures: Figures, { method }: RestoreSeen, looked: Looked): void {
  figures.show('chain', looked.audit.problems.length === 0 ? 'ok' : 'broken')
  figures.none('audit_broken', looked.audit.problems)
  figures.atLeast('audit_rows', looked.audit.rows, 1)
  figures.atLeast('checkpoints', looked.checkpoints, 1)
  figures.show('checkpoints_lost', looked.checkpointsLost)
  // With an archive there may be nothing that is lost.
  if (method === 'archive') figures.show('loss_seen', looked.lossSeen)
  else figures.atLeast('loss_seen', looked.lossSeen, 1)
  figures.none('keys_missing', looked.keysMissing)
  figures.none('secrets_closed', looked.secretsClosed)
  figures.none('tokens_refused', looked.tokensRefused)
  figures.atLeast('pilets', looked.pilets, 1)
  figures.none('pilets_broken', looked.piletsBroken)
  figures.none('broken_since', looked.brokenSince)
  figures.none('unfired', looked.unfired)
  figures.show('first_fires_s', looked.fireSeconds)
}
