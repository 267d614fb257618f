import type { MetricFactory } from '../../platform/metrics.ts'

export type DeploymentMetrics = ReturnType<typeof createDeploymentMetrics>

/** What is measured of deployments. */
export const createDeploymentMetrics = ({ counter }: MetricFactory) => ({
  wakes: counter(
    'svc_deployment_wakes_total',
    'Calls of the orchestrator to wake a deployment, by what they met; requests that share one count once.',
    { outcome: ['raised', 'already_awake', 'failed'] },
  ),
})
