// What a caller may do in an application, from the rows that say so. The row nearest to the application decides the
// role: the person's own row for it, else their role in the project, else their tenants.

export type Tenant = { id: string; name: string }

/** What the database knows about a person and an application; the parts are null where there is no row. */
export type AccessRows = {
  project_id: string | null
  is_administrator: boolean
  application_role: string | null
  project_role: string | null
  /** The tenants the caller reaches and the application is enabled for; one more than the limit when there are more. */
  tenants: Tenant[]
}

/** What of it a change in the project may change, tenants apart. */
export const userColumns = ['application_role', 'project_role'] as const

export type Access = {
  has_access: boolean
  role: 'normal' | 'readonly' | null
  available_tenants: Tenant[]
  /** Only when there are more tenants than the response lists. */
  available_tenants_truncated?: true
}

export const maxTenants = 10_000
export const noAccess: Access = { has_access: false, role: null, available_tenants: [] }

/** A person's access. */
export function accessOfUser(rows: AccessRows): Access {
  const role = rows.project_id === null ? null : roleOfUser(rows)
  return role === null ? noAccess : { has_access: true, role, ...listed(rows.tenants) }
}

function roleOfUser(rows: AccessRows): Access['role'] {
  if (rows.is_administrator) return 'normal'
  if (rows.application_role !== null) return rows.application_role === 'readonly' ? 'readonly' : 'normal'
  if (rows.project_role !== null) return rows.project_role === 'readonly' ? 'readonly' : 'normal'
  return rows.tenants.length > 0 ? 'normal' : null
}

/** A machine user serves every tenant that an application of its project is enabled for. */
export function accessOfMachine(isOwnApplication: boolean, tenants: Tenant[]): Access {
  if (!isOwnApplication) return noAccess
  return { has_access: true, role: 'normal', ...listed(tenants) }
}

function listed(tenants: Tenant[]): Pick<Access, 'available_tenants' | 'available_tenants_truncated'> {
  if (tenants.length <= maxTenants) return { available_tenants: tenants }
  return { available_tenants: tenants.slice(0, maxTenants), available_tenants_truncated: true }
}
