// Lets users wake a deployment and check its readiness. The proxy can do the same, but it identifies a deployment by an
// application id and an environment name instead of two ids.
import type { Actor } from '../../policy/actor.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { notFound, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { WakeResult } from '../../platform/orchestrator/orchestrator.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { ReadinessService } from './readiness.service.ts'
import type { WakeService } from './wake.service.ts'
import { type NamedDeployment, findNamedDeployment } from './wakes.store.ts'

export type DeploymentOperationsDeps = {
  db: Db
  audit: Audit
  wake: WakeService
  readiness: Pick<ReadinessService, 'ready'>
}
export type DeploymentOperations = ReturnType<typeof createDeploymentOperations>

/** Identifies a deployment. The environment must belong to the project of the application. */
export type DeploymentIds = { applicationId: string; environmentId: string }

export function createDeploymentOperations({ db, audit, wake, readiness }: DeploymentOperationsDeps) {
  const find = async ({ applicationId, ...ids }: DeploymentIds): Promise<NamedDeployment> => {
    const environmentId = parseUuid(ids.environmentId)
    if (environmentId === null) throw notFound('environment')
    return orNotFound(await findNamedDeployment(db.read, { applicationId, environmentId }), 'environment')
  }

  /** Records a wake. The workload has already changed, so the row cannot be part of the same transaction. */
  const record = (actor: Actor, deployment: NamedDeployment, { minReplicas }: WakeResult): Promise<void> =>
    db.transaction((tx) =>
      audit.append(tx, actor, {
        projectId: deployment.projectId,
        entityType: 'deploymentSpecification',
        entityId: deployment.specificationId ?? '',
        action: 'wake',
        description: `deploymentSpecification ${deployment.workload ?? ''} woken`,
        classes: { awake: 'public' },
        before: { awake: false },
        after: { awake: true },
        metadata: {
          applicationId: deployment.applicationId,
          environment: deployment.environment,
          minReplicas,
        },
      }),
    )

  return {
    /** Wakes the deployment for a person. A wake that changes nothing leaves no audit row. */
    wake: async (actor: Actor, ids: DeploymentIds) => {
      const deployment = await find(ids)
      const wakeResult = await wake.wake(deployment)
      if (!wakeResult.alreadyAwake) await record(actor, deployment, wakeResult)
      return { success: true, ...wakeResult }
    },

    readiness: async (ids: DeploymentIds) => {
      const { ready, backends, retry_after_ms: retryAfterMs = null } = await readiness.ready(await find(ids))
      return { ready, backends, retryAfterMs }
    },
  }
}
