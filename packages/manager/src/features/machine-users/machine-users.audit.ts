// How changes of machine users are recorded: what a credential is stored as never leaves the store.
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { MachineUser } from './machine-users.store.ts'

export const machineUserEvent = auditedEntity<MachineUser>({
  type: 'machineUser',
  classes: {
    id: 'public',
    projectId: 'ignored',
    environmentId: 'public',
    name: 'public',
    username: 'public',
    enabled: 'public',
    tokenPrefix: 'public',
    lastRotatedAt: 'public',
    createdAt: 'ignored',
  },
  nameOf: (row) => row.name,
  projectOf: (row) => row.projectId,
})
