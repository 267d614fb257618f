// The expected result of an import, derived only from the old rows and the rules. It shares no code with the import.
import { type Config, answeredConfig } from './expected-settings.ts'
import { type WasTaken, expectCallers } from './expected-callers.ts'
import { type KeptAside, type ProjectIndex, indexProjects, isSubject } from './expected-places.ts'
import type { Id, OldApplication, OldInstall } from './old-rows.ts'

type Role = 'member' | 'admin' | 'owner'
export type ExpectedClone = {
  id: Id
  tenantId: Id
  projectId: Id
  /** The response to a frontend, or null if the clone is disabled. */
  config: Config | null
}
export type Expected = ReturnType<typeof expectImport>

export function expectImport(install: OldInstall, wasTaken: WasTaken) {
  const projectIndex = indexProjects(install)
  const { projectOf, tenantProject, lost } = projectIndex
  const owners: Record<string, (id: Id) => boolean> = {
    project: (id) => install.projects.some((project) => project.id === id),
    tenant: (id) => tenantProject.has(id),
    application: (id) => projectOf.has(id),
  }
  const templates = new Set(install.applications.filter((a) => a.tenant_id === null).map(({ id }) => id))
  const settings: KeptAside = new Map()
  for (const { id, owner, owner_id } of install.settings)
    if (owners[owner]?.(owner_id) !== true) settings.set(id, 'orphan')
    else if (owner === 'application' && templates.has(owner_id)) settings.set(id, 'template-settings')
  const clones = install.applications.flatMap(({ id, tenant_id, enabled }): ExpectedClone[] => {
    const projectId = projectOf.get(id)
    if (tenant_id === null || projectId === undefined) return []
    const owned = { project: projectId, tenant: tenant_id, application: id }
    return [{ id, tenantId: tenant_id, projectId, config: enabled ? answeredConfig(install, owned) : null }]
  })
  const people = peopleOf(install, tenantProject)
  const callers = expectCallers(install, projectIndex, wasTaken)
  const keptAside = {
    projects: new Map() as KeptAside,
    tenants: lost.tenants,
    applications: lost.applications,
    tenant_members: people.keptAside,
    settings,
    ...callers.keptAside,
  }
  return { clones, groups: groupsOf(install, projectIndex), roles: people.roles, keptAside, callers }
}

const ranks: readonly Role[] = ['member', 'admin', 'owner']
const roleOf = (old: string): Role => (old === 'owner' ? 'owner' : old === 'maintainer' ? 'admin' : 'member')

/** The role of each person in each tenant. */
function peopleOf(install: OldInstall, tenantProject: ReadonlyMap<Id, Id>) {
  const keptAside: KeptAside = new Map()
  const roles = new Map<string, Map<Id, Role>>()
  for (const { tenant_id, user_id, role } of install.members) {
    if (!tenantProject.has(tenant_id)) keptAside.set(`${tenant_id}/${user_id}`, 'orphan')
    else if (!isSubject(user_id)) keptAside.set(`${tenant_id}/${user_id}`, 'no-subject')
    else {
      const own = roles.get(user_id) ?? new Map<Id, Role>()
      const [had, has] = [own.get(tenant_id), roleOf(role)]
      own.set(tenant_id, had !== undefined && ranks.indexOf(had) > ranks.indexOf(has) ? had : has)
      roles.set(user_id, own)
    }
  }
  return { keptAside, roles }
}

/**
 * Returns the clones that must become one application: `clone_of` connects the clones, and no tenant has two
 * of them.
 */
function groupsOf(install: OldInstall, { projectOf }: ProjectIndex): Id[][] {
  const present = install.applications.filter(({ id }) => projectOf.has(id))
  const group = new Map(present.map(({ id }) => [id, id]))
  const rename = (from: Id, to: Id): void => {
    for (const [id, name] of group) if (name === from) group.set(id, to)
  }
  const isLinked = (a: OldApplication): boolean =>
    a.clone_of !== null && projectOf.get(a.clone_of) === projectOf.get(a.id)
  for (const clone of present)
    if (isLinked(clone)) rename(group.get(clone.id) as Id, group.get(clone.clone_of as Id) as Id)
  const members = Map.groupBy(
    present.filter(({ tenant_id }) => tenant_id !== null),
    ({ id }) => group.get(id) as Id,
  )
  return [...members.values()]
    .filter((clones) => new Set(clones.map(({ tenant_id }) => tenant_id)).size === clones.length)
    .map((clones) => clones.map(({ id }) => id))
    .filter((clones) => clones.length > 1)
}
