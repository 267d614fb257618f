// Types of API rows, as the pages about deployments read them.
import type { DeploymentBackendsResult, DeploymentDetailResult } from '../../generated/documents.ts'
import type { CurrentEnvironment } from '../../app/project.tsx'

export type Specification = DeploymentDetailResult['deploymentSpecifications'][number]
export type Backend = DeploymentBackendsResult['backendsConnection']['nodes'][number]
type Application = DeploymentDetailResult['applicationById']

/** An application in an environment. */
export type Deployment = {
  readonly id: string
  readonly application: Application
  readonly environment: CurrentEnvironment
  /** Null if the deployment has no specification. */
  readonly specification: Specification | null
}
