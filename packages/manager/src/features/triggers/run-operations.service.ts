// Implements the CLI operations on runs: list runs, and retry a failed run.
import { type Audit, createSystemActor } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import * as store from './run-operations.store.ts'
import { createFirstAttempt, firstAttempts } from './attempts.pure.ts'
import { findTriggerOfRun } from './manual-runs.store.ts'
import { checkNoPendingRun, checkNotRepeated } from './run-conflicts.service.ts'
import { trackReopenedRun } from './run-counts-roll-up.store.ts'
import { lockTrigger } from './triggers.store.ts'

export type RunOperations = ReturnType<typeof createRunOperations>

const event = createEventBuilder<store.LockedRun>({
  type: 'trigger_run',
  classes: {
    id: 'public',
    scheduledAt: 'public',
    projectId: 'public',
    applicationId: 'public',
    triggerId: 'public',
    environmentId: 'public',
    triggerName: 'public',
    outcome: 'public',
  },
  nameOf: (run) => run.triggerName,
  projectOf: (run) => run.projectId,
})

/** Creates the operations. A retry writes the run, its job and its audit row in one transaction. */
export function createRunOperations({ db, jobs, audit }: { db: Db; jobs: Jobs; audit: Audit }) {
  return {
    list: (filter: Omit<store.RunFilter, 'triggerId'> & { trigger: string | null }) => {
      const triggerId = filter.trigger === null ? null : parseUuid(filter.trigger)
      if (filter.trigger !== null && triggerId === null)
        throw badRequest('--trigger must be a trigger id (a UUID)')
      return store.listRuns(db.read, { ...filter, triggerId })
    },

    /**
     * Retries a failed run, or a pending run whose job was lost. The run keeps its id and starts again with its first
     * attempt. Throws if another run of the trigger is pending in the environment, or if a retry of the run is pending
     * or delivered.
     */
    retry: (id: string): Promise<store.LockedRun> =>
      db.transaction(async (tx) => {
        const before = await lockRun(tx, parseUuid(id))
        if (before === undefined)
          throw badRequest(
            `run ${id} does not exist; use \`manager triggers runs --outcome failed\` to list failed runs`,
          )
        const hasLostJob = before.outcome === 'pending' && !(await store.hasAttempt(tx, before))
        if (before.outcome !== 'failed' && !hasLostJob)
          throw conflict(`only failed runs can be retried; this run is ${before.outcome}`)
        await checkNotRepeated(tx, before)
        await checkNoPendingRun(tx, { ...before, exceptId: before.id })
        const after = { ...before, outcome: 'pending' }
        await trackReopenedRun(tx, before)
        await store.reopenRun(tx, before)
        await jobs.enqueue(tx, firstAttempts, [createFirstAttempt(before)])
        await audit.append(
          tx,
          createSystemActor('manager triggers retry'),
          event('update', { before, after }),
        )
        return after
      }),
  }
}

/** Locks the run. Locks its trigger first, unless it was deleted, so that no other run is started at the same time. */
async function lockRun(tx: Tx, id: string | null): Promise<store.LockedRun | undefined> {
  const triggerId = id === null ? undefined : await findTriggerOfRun(tx, id)
  if (id === null || triggerId === undefined) return undefined
  await lockTrigger(tx, triggerId)
  return store.lockRun(tx, id)
}
