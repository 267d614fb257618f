// Derives permissions from the rows of effective access, by the rules that their descriptions state.
import { type Requirement, permissions } from '../../src/policy/permissions.ts'
import type { Target } from '../../src/policy/scopes.ts'
import type { AccessRow } from './access-rows.ts'
import type { AccessWorld } from './access-worlds.ts'

const listPermissionsWith = (property: keyof Requirement): ReadonlySet<string> =>
  new Set(
    Object.entries<Requirement>(permissions)
      .filter(([, requirement]) => requirement[property] !== undefined)
      .map(([name]) => name),
  )
/** The permissions that any membership gives in its project. */
const generalPermissions = listPermissionsWith('anyMembership')
/** The permissions that do not depend on an object. */
const systemPermissions = new Set([...listPermissionsWith('system'), ...listPermissionsWith('anyProject')])

/** Returns the permissions on an object according to the rows of a person. */
export function derivePermissions(rows: readonly AccessRow[], target: Target): Set<string> {
  const { projectId, tenantId = null, applicationId = null } = target
  const kind = tenantId === null ? (applicationId === null ? 'PROJECT' : 'APPLICATION') : 'TENANT'
  const scope = tenantId !== null && applicationId !== null ? 'TENANT_APPLICATION' : kind
  const found = new Set<string>()
  for (const row of rows) {
    const isObject =
      row.scope === scope &&
      row.project === projectId &&
      row.tenant === tenantId &&
      row.application === applicationId
    const isCovered = row.covers.includes(scope) && (row.project === null || row.project === projectId)
    const isInProject = row.project === projectId
    for (const name of row.permissions)
      if (isObject || isCovered || (isInProject && generalPermissions.has(name))) found.add(name)
  }
  return new Set([...found].filter((name) => !systemPermissions.has(name)))
}

/** Returns every object of a world, with the field that reads it. */
export const listTargets = ({ projects }: AccessWorld): (Target & { field: string })[] =>
  projects.flatMap(({ id: projectId, slug, tenants, applications }) => [
    { projectId, field: `project(slug: "${slug}")` },
    ...tenants.map(({ id }) => ({ projectId, tenantId: id, field: `tenantById(id: "${id}")` })),
    ...applications.map(({ id }) => ({
      projectId,
      applicationId: id,
      field: `applicationById(id: "${id}")`,
    })),
  ])
