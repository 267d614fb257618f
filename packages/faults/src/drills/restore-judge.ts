// Checks the record of a restore drill against its bounds. The result depends only on the record.
import { type Verdict, createVerdict } from '../verdict.ts'
import type { Method } from './backup.ts'
import type { Acknowledged } from './load.ts'
import type { Inspection } from './restored.ts'

export type RestoreSeen = {
  method: Method
  backupSeconds: number
  /** Calls that failed before the database was destroyed. */
  failed: string[]
  acknowledged: Acknowledged[]
  /** The backup contains every change that was acknowledged before this time. */
  completeUntil: number
  destroyedAt: number
  restoreSeconds: number
  /** The time until the service was ready: from the start of the restore, and from the loss of the database. */
  readySeconds: number
  rtoSeconds: number
  notStarted: string[]
  inspection: Inspection | null
  minutes: number
}
type Figures = ReturnType<typeof createVerdict>

// Bounds for a drill with a small database. With an archive, only changes that the archive has not received may be
// lost.
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
  if (seen.inspection !== null) {
    judgeRows(figures, seen, seen.inspection)
    judgeInspection(figures, seen, seen.inspection)
  }
  figures.atMost('RTO_s', seen.rtoSeconds, rtoSeconds)
  figures.show('minutes', seen.minutes)
  return figures.verdict
}

/**
 * Checks that all data that was acknowledged before the end of the backup exists. RPO_s is the age of the
 * oldest lost change.
 */
function judgeRows(figures: Figures, seen: RestoreSeen, { missing, rows }: Inspection): void {
  const { acknowledged, completeUntil, destroyedAt } = seen
  const isInBackup = ({ ackedAt }: Acknowledged): boolean => ackedAt < completeUntil
  const before = acknowledged.filter(isInBackup)
  figures.atLeast('acknowledged', before.length, 1)
  figures.none(
    'missing',
    missing.filter(isInBackup).map(({ kind, id }) => `${kind} ${id}`),
  )
  figures.show('after_backup', acknowledged.length - before.length)
  figures.show('lost_after_backup', missing.filter((one) => !isInBackup(one)).length)
  const oldest = Math.min(destroyedAt, ...missing.map(({ ackedAt }) => ackedAt))
  const lostSeconds = (destroyedAt - oldest) / 1_000
  if (seen.method === 'archive') figures.atMost('RPO_s', lostSeconds, rpoSeconds)
  else figures.show('RPO_s', lostSeconds)
  figures.show('rows', rows)
}

function judgeInspection(figures: Figures, { method }: RestoreSeen, inspection: Inspection): void {
  figures.show('chain', inspection.audit.problems.length === 0 ? 'ok' : 'broken')
  figures.none('audit_broken', inspection.audit.problems)
  figures.atLeast('audit_rows', inspection.audit.rows, 1)
  figures.atLeast('checkpoints', inspection.checkpoints, 1)
  figures.show('checkpoints_lost', inspection.checkpointsLost)
  // An archive may preserve every change. Then the trail has no loss to reveal.
  if (method === 'archive') figures.show('loss_seen', inspection.lossSeen)
  else figures.atLeast('loss_seen', inspection.lossSeen, 1)
  figures.none('keys_missing', inspection.keysMissing)
  figures.none('secrets_unreadable', inspection.secretsUnreadable)
  figures.none('tokens_refused', inspection.tokensRefused)
  figures.atLeast('pilets', inspection.pilets, 1)
  figures.none('pilets_broken', inspection.piletsBroken)
  figures.none('broken_after_restore', inspection.brokenAfterRestore)
  figures.none('unfired', inspection.unfired)
  figures.show('first_fires_s', inspection.fireSeconds)
}
