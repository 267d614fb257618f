// Computes the access of a caller to an application from stored rows.
import { computeApplicationRole } from '../../policy/application-role.ts'
import type { ApplicationRole, ProjectRole } from '../../policy/roles.ts'

export type Tenant = { id: string; name: string }

/** Stored values about a person and an application. A value is null if its row does not exist. */
export type AccessRows = {
  project_id: string | null
  is_administrator: boolean
  application_role: ApplicationRole | null
  project_role: ProjectRole | null
  /**
   * Tenants that the caller can access and that have the application enabled. If the list is truncated, it has one
   * tenant more than the limit.
   */
  tenants: Tenant[]
}

/** Fields, besides the tenants, that a change in the project can affect. */
export const userColumns = ['application_role', 'project_role'] as const

export type Access = {
  has_access: boolean
  role: ApplicationRole | null
  available_tenants: Tenant[]
  /** Set only if more tenants exist than the response lists. */
  available_tenants_truncated?: true
}

export const maxTenants = 10_000
export const noAccess: Access = { has_access: false, role: null, available_tenants: [] }

export function computeUserAccess(rows: AccessRows): Access {
  if (rows.project_id === null) return noAccess
  const role = computeApplicationRole({
    isAdministrator: rows.is_administrator,
    applicationRole: rows.application_role,
    projectRole: rows.project_role,
    hasTenant: rows.tenants.length > 0,
  })
  return role === null ? noAccess : { has_access: true, role, ...limitTenants(rows.tenants) }
}

/** A machine user can access every tenant that has an application of its project enabled. */
export function computeMachineAccess(isOwnApplication: boolean, tenants: Tenant[]): Access {
  if (!isOwnApplication) return noAccess
  return { has_access: true, role: 'normal', ...limitTenants(tenants) }
}

function limitTenants(tenants: Tenant[]): Pick<Access, 'available_tenants' | 'available_tenants_truncated'> {
  if (tenants.length <= maxTenants) return { available_tenants: tenants }
  return { available_tenants: tenants.slice(0, maxTenants), available_tenants_truncated: true }
}
