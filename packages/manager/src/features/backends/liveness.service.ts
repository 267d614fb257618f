// Which backends can be called back, and which are removed because they were silent for too long. All times are those of
// the database, and times in which the service itself could receive nothing do not count.
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { BackendMetrics } from './backends.metrics.ts'
import * as store from './liveness.store.ts'
import { signingSecretPlace, tokenPlace } from './token-place.pure.ts'

export type LivenessDeps = {
  db: Db
  database: Pick<Database, 'run'>
  log: Logger
  secrets: Secrets
  metrics: BackendMetrics
  staleAfterMs: number
  reapAfterMs: number
}
export type LivenessService = ReturnType<typeof createLivenessService>
type Deployment = store.Deployment
/** A backend to call, the token that proves to it who calls, and the secret that callbacks are signed with. */
type LiveTarget = Omit<store.Target, 'callbackToken' | 'signingSecret'> & {
  token: string
  /** Null for a registration of the previous release: its callbacks are signed with the token only. */
  signingSecret: string | null
}

const reapBatch = 500

/** What others may know of backends. */
export function createLivenessService(deps: LivenessDeps) {
  const { db, log, secrets, metrics, staleAfterMs, reapAfterMs } = deps
  const count = createCoalesced<Deployment, { count: number }>({
    keyOf: ({ applicationId, environmentId }) => `${applicationId} ${environmentId}`,
    run: (deployments) => store.countLive(deps.database.run, deployments, staleAfterMs),
  })
  return {
    /** How many live backends a deployment has, counted up to 1,000; questions at once share a statement. */
    countLive: async ({ applicationId, environmentId }: Deployment): Promise<number> =>
      (await count({ applicationId, environmentId }))?.count ?? 0,

    /** Every environment that one of the applications is registered in, and whether one of its backends is live. */
    listDeployments: (
      tx: Tx,
      applicationIds: readonly string[],
    ): Promise<(Deployment & { isLive: boolean })[]> =>
      store.listDeployments(tx, applicationIds, staleAfterMs),

    /** The live backends of each deployment, those with the freshest heartbeat first, at most five of each. */
    listLiveTargets: async (from: Reads, deployments: readonly Deployment[]): Promise<LiveTarget[]> => {
      const targets = await store.listLiveTargets(from, deployments, staleAfterMs)
      return targets.flatMap(({ callbackToken, signingSecret, ...target }) => {
        const id = target.registrationId
        try {
          const token = secrets.open(callbackToken, tokenPlace(id))
          const opened = signingSecret && secrets.open(signingSecret, signingSecretPlace(id))
          return [{ ...target, token, signingSecret: opened }]
        } catch (error) {
          // Its key is gone, or the row was changed. It gets new secrets when it registers again; others go on.
          log.error({ err: error, registration: id }, 'the secrets of a backend do not open')
          return []
        }
      })
    },

    /** Removes who was silent for too long, and counts the others. */
    reap: async (): Promise<void> => {
      let removed = 0
      for (;;) {
        const count = await store.deleteSilent(db.write, reapAfterMs, reapBatch)
        removed += count
        if (count < reapBatch) break
      }
      if (removed > 0)
        log.info({ removed, reap_after_ms: reapAfterMs }, 'backends were silent and are removed')
      const { live, stale } = await store.countBackends(db.read, staleAfterMs)
      metrics.setBackends('live', live)
      metrics.setBackends('stale', stale)
    },
  }
}
