import type { MetricFactory } from '../../platform/metrics.ts'

export type DeploymentMetrics = ReturnType<typeof createDeploymentMetrics>

export const createDeploymentMetrics = ({ counter }: MetricFactory) => ({
  wakes: counter(
    'svc_deployment_wakes_total',
    'Calls to the orchestrator that wake a deployment, by outcome; requests that share a call count once.',
    { outcome: ['raised', 'already_awake', 'failed'] },
  ),
})
