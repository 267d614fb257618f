// Interface to the platform that runs deployment workloads. The service only wakes workloads that were scaled to zero.

/** Identifies the workload of a deployment. */
export type Workload = { namespace: string; name: string }
/** The replica floor after a wake, and whether the workload was already awake. */
export type WakeResult = { minReplicas: number; alreadyAwake: boolean }
/** Wakes workloads that were scaled to zero. */
export type Orchestrator = {
  readonly kind: 'none' | 'kubernetes'
  /** Raises the replica floor to at least 1 and never lowers it; throws OrchestratorFailure. */
  wake(workload: Workload): Promise<WakeResult>
  close(): Promise<void>
}

/** Thrown if a workload cannot be woken. The message is for operators and contains no secret. */
export class OrchestratorFailure extends Error {
  override readonly name = 'OrchestratorFailure'
}

/** Used if no orchestrator is configured; every wake rejects with OrchestratorFailure. */
export const createNoOrchestrator = (): Orchestrator => ({
  kind: 'none',
  wake: () =>
    Promise.reject(
      new OrchestratorFailure('no orchestrator is configured; set orchestrator.kind (SVC_ORCHESTRATOR_KIND)'),
    ),
  close: () => Promise.resolve(),
})
