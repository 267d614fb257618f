// Rejects runs that would overlap with another run, and duplicate retries of a run. The caller must have locked the
// trigger.
import { conflict } from '../../platform/errors.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import * as store from './manual-runs.store.ts'

/** Throws if a retry of the run is pending or delivered. */
export async function checkNotRepeated(tx: Tx, run: { id: string; scheduledAt: string }): Promise<void> {
  const retry = await store.findActiveRetry(tx, run)
  if (retry === undefined) return
  throw conflict(
    retry.outcome === 'pending'
      ? `the run ${retry.id} is already a pending retry of this run; wait until it ends`
      : `the run ${retry.id} is a retry of this run that was already delivered; start another run with runTrigger`,
  )
}

/** Throws if another run of the trigger is pending in the environment. */
export async function checkNoPendingRun(tx: Tx, slot: store.RunSlot): Promise<void> {
  const pendingId = await store.findPendingRun(tx, slot)
  if (pendingId !== undefined)
    throw conflict(
      `the run ${pendingId} of the trigger is still pending in this environment; wait until it ends`,
    )
}
