// Determines the project of each row in an old installation.
import type { Id, OldInstall } from './old-rows.ts'

/** Maps the id of a row in the import ledger to the reason why the row has no counterpart. */
export type KeptAside = Map<Id, string>
export type ProjectIndex = ReturnType<typeof indexProjects>

/** Returns the project of each tenant and application. Rows without a project are not imported. */
export function indexProjects(install: OldInstall) {
  const projects = new Set(install.projects.map(({ id }) => id))
  const lost = { tenants: new Map() as KeptAside, applications: new Map() as KeptAside }
  const tenantProject = new Map<Id, Id>()
  for (const { id, project_id } of install.tenants)
    if (projects.has(project_id)) tenantProject.set(id, project_id)
    else lost.tenants.set(id, 'orphan')
  const projectOf = new Map<Id, Id>()
  for (const { id, tenant_id, project_id } of install.applications) {
    const project = tenant_id === null ? project_id : tenantProject.get(tenant_id)
    if (project !== null && project !== undefined && projects.has(project)) projectOf.set(id, project)
    else lost.applications.set(id, 'orphan')
  }
  return { projects, tenantProject, projectOf, lost }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isSubject = (userId: string): boolean => uuid.test(userId)
