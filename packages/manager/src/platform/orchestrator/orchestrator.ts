// What runs the workloads of deployments, as far as the service needs it: waking one that was scaled to zero.

/** Where the workload of a deployment runs. */
export type Workload = { namespace: string; name: string }
/** The replica floor after a wake, and whether there was nothing to raise. */
export type Raised = { minReplicas: number; alreadyAwake: boolean }
export type Orchestrator = {
  readonly kind: 'none' | 'kubernetes'
  /** Raises the replica floor to at least 1 and never lowers it; throws OrchestratorFailure. */
  wake(workload: Workload): Promise<Raised>
  close(): Promise<void>
}

/** Why a workload could not be woken, in a text for operators that holds no secret. */
export class OrchestratorFailure extends Error {
  override readonly name = 'OrchestratorFailure'
}

/** Wakes nothing. */
export const createNoOrchestrator = (): Orchestrator => ({
  kind: 'none',
  wake: () =>
    Promise.reject(
      new OrchestratorFailure('no orchestrator is configured; set orchestrator.kind (SVC_ORCHESTRATOR_KIND)'),
    ),
  close: () => Promise.resolve(),
})
