// Computes the role in which a person uses an application. The most specific role decides: the role in the application,
// then the role in the project, then the tenants.
import type { ApplicationRole, ProjectRole } from './roles.ts'

export type ApplicationRoleSource = {
  isAdministrator: boolean
  applicationRole: ApplicationRole | null
  projectRole: ProjectRole | null
  /** Whether a tenant for which the application is enabled gives the person access. */
  hasTenant: boolean
}

/** Returns the role, or null if the person has no access to the application. */
export function computeApplicationRole(source: ApplicationRoleSource): ApplicationRole | null {
  if (source.isAdministrator) return 'normal'
  if (source.applicationRole !== null) return source.applicationRole === 'readonly' ? 'readonly' : 'normal'
  if (source.projectRole !== null) return source.projectRole === 'readonly' ? 'readonly' : 'normal'
  return source.hasTenant ? 'normal' : null
}
