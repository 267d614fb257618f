// Implements the CLI operations on runs: list runs, and retry a failed run.
import { type Audit, createSystemActor } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, conflict } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import * as store from './run-operations.store.ts'
import { createFirstAttempt, firstAttempts } from './attempts.pure.ts'
import { trackReopenedRun } from './run-counts-roll-up.store.ts'

export type RunOperations = ReturnType<typeof createRunOperations>

const event = auditedEntity<store.LockedRun>({
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

    /** Retries a failed run with all its attempts under the same id, or a pending run whose job was lost. */
    retry: (id: string): Promise<store.LockedRun> =>
      db.transaction(async (tx) => {
        const runId = parseUuid(id)
        const before = runId === null ? undefined : await store.lockRun(tx, runId)
        if (before === undefined)
          throw badRequest(
            `run ${id} does not exist; use \`manager triggers runs --outcome failed\` to list failed runs`,
          )
        const hasLostJob = before.outcome === 'pending' && !(await store.hasAttempt(tx, before))
        if (before.outcome !== 'failed' && !hasLostJob)
          throw conflict(`only failed runs can be retried; this run is ${before.outcome}`)
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
