import type { UseQueryResult } from '@tanstack/react-query'
import { useRead } from '../../api/requests.ts'
import {
  type DeploymentBackendsResult,
  type DeploymentStateResult,
  deploymentBackendsDocument,
  deploymentStateDocument,
} from '../../generated/documents.ts'
import type { Deployment } from './deployment-types.ts'

const toTarget = ({ application, environment }: Deployment) => ({
  application: application.id,
  environment: environment.id,
})

/** Reads the backends with the most recent heartbeats, for the state of the deployment. */
export const useBackendState = (deployment: Deployment): UseQueryResult<DeploymentStateResult> =>
  useRead(deploymentStateDocument, toTarget(deployment), { isLive: true })

/** Reads a page of the backends, most recent registration first. */
export const useBackends = (
  deployment: Deployment,
  pagination: { readonly limit: number; readonly offset: number },
): UseQueryResult<DeploymentBackendsResult> =>
  useRead(
    deploymentBackendsDocument,
    { ...toTarget(deployment), pagination },
    { keepsPrevious: true, isLive: true },
  )
