// Determines which backends are live, and removes backends that were silent for too long. All times use the
// database clock. Periods in which the Manager could not receive heartbeats do not count.
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db, Reads, Tx } from '../../platform/postgres/handles.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { BackendMetrics } from './backends.metrics.ts'
import * as store from './liveness.store.ts'
import { getSigningSecretLocation, getTokenLocation } from './sealed-secrets.pure.ts'

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
/** A backend to call, with the token that authenticates the caller and the secret that signs callbacks. */
type LiveTarget = Omit<store.Target, 'callbackToken' | 'signingSecret'> & {
  token: string
  /** Null for a registration of the previous release. Its callbacks are signed only with the token. */
  signingSecret: string | null
}

const reapBatch = 500

/** Provides the live backends to other features. */
export function createLivenessService(deps: LivenessDeps) {
  const { db, log, secrets, metrics, staleAfterMs, reapAfterMs } = deps
  const count = createCoalescer<Deployment, { count: number }>({
    getKey: ({ applicationId, environmentId }) => `${applicationId} ${environmentId}`,
    run: (deployments) => store.countLive(deps.database.run, deployments, staleAfterMs),
  })
  return {
    /** Returns the number of live backends of a deployment, at most 1,000. Concurrent calls share a statement. */
    countLive: async ({ applicationId, environmentId }: Deployment): Promise<number> =>
      (await count({ applicationId, environmentId }))?.count ?? 0,

    /**
     * Returns every environment in which at least one of the applications is registered, and whether a live
     * backend exists there.
     */
    listDeployments: (
      tx: Tx,
      applicationIds: readonly string[],
    ): Promise<(Deployment & { isLive: boolean })[]> =>
      store.listDeployments(tx, applicationIds, staleAfterMs),

    /** Returns at most five live backends per deployment, most recent heartbeat first. */
    listLiveTargets: async (from: Reads, deployments: readonly Deployment[]): Promise<LiveTarget[]> => {
      const targets = await store.listLiveTargets(from, deployments, staleAfterMs)
      return targets.flatMap(({ callbackToken, signingSecret, ...target }) => {
        const id = target.registrationId
        try {
          const token = secrets.open(callbackToken, getTokenLocation(id))
          const plainSigningSecret =
            signingSecret && secrets.open(signingSecret, getSigningSecretLocation(id))
          return [{ ...target, token, signingSecret: plainSigningSecret }]
        } catch (error) {
          // Either the key was removed from the ring, or the row was modified. The backend receives new secrets when
          // it registers again. Other backends are unaffected.
          log.error({ err: error, registration: id }, 'cannot decrypt the secrets of a backend')
          return []
        }
      })
    },

    /** Removes backends that were silent for too long. */
    reap: async (): Promise<void> => {
      let removedCount = 0
      for (;;) {
        const count = await store.deleteSilent(db.write, reapAfterMs, reapBatch)
        removedCount += count
        if (count < reapBatch) break
      }
      if (removedCount > 0)
        log.info(
          { removed: removedCount, reap_after_ms: reapAfterMs },
          'removed backends that sent no heartbeats',
        )
    },

    /** Counts the registered backends for the metrics. */
    count: async (): Promise<void> => {
      const { live, stale } = await store.countBackends(db.read, staleAfterMs)
      metrics.setBackends('live', live)
      metrics.setBackends('stale', stale)
    },
  }
}
