import {
  createDeploymentSpecificationDocument,
  deleteDeploymentSpecificationDocument,
  listDeploymentSpecificationsDocument,
  updateDeploymentSpecificationDocument,
} from '@manager/client/documents'
import type { Operation, Resource } from '../resource.ts'
import type { Row } from '../output.ts'

/** An app has at most one deployment in an environment, so the environment identifies the deployment. */
export const deployments: Resource = {
  name: 'deployments',
  singular: 'deployment',
  description: 'Deployments: how an app runs in each environment',
  parent: 'app',
  keys: ['environment'],
  columns: ['environment', 'workload', 'image', 'version', 'minReplicas', 'maxReplicas', 'scaleToZero'],
  fields: [
    {
      name: 'workload',
      description: 'the workload in the orchestrator, as namespace/name',
      isRequired: true,
    },
    { name: 'image', description: 'the image, such as registry.example.com/web', isRequired: true },
    { name: 'version', option: 'imageVersion', description: 'the version of the image' },
    { name: 'minReplicas', description: 'the minimum number of replicas', kind: 'number' },
    { name: 'maxReplicas', description: 'the maximum number of replicas', kind: 'number' },
    { name: 'port', description: 'the port of the backend', kind: 'number' },
    { name: 'healthPath', description: 'the path of the health check, such as /health' },
    {
      name: 'readinessTimeoutSeconds',
      description: 'how long a wake may take, in seconds',
      kind: 'number',
    },
  ],
  list: {
    document: listDeploymentSpecificationsDocument,
    parent: 'application',
    hasFilters: false,
    convert: (row) => ({ ...row, environment: (row['environment'] as Row | undefined)?.['name'] }),
  },
  update: { document: updateDeploymentSpecificationDocument },
  delete: { document: deleteDeploymentSpecificationDocument },
  example: 'dev --workload shop/web --image web',
}

/** Creates a deployment. The command resolves the environment, which is part of the input. */
export const createDeployment: Operation = {
  document: createDeploymentSpecificationDocument,
  parent: 'applicationId',
}
