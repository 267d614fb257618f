// In a list, a caller sees all rows of the projects where they are a member, and individual rows of other projects.
import type { Actor } from './actor.ts'
import type { RolesInProject } from './roles-in-project.ts'

/** Rows of these projects, and rows with these ids; `all` for administrators. */
export type VisibleRows = 'all' | { projectIds: string[]; ids: string[] }

/**
 * Returns the visible rows. In a project where the caller has no project role, `selectOwnIds` selects row ids by the
 * caller's other roles.
 */
export async function findVisibleRows(
  actor: Actor,
  projectIds: readonly string[],
  selectOwnIds: (roles: RolesInProject) => string[],
): Promise<VisibleRows> {
  if (actor.isAdministrator) return 'all'
  const visibleRows: VisibleRows = { projectIds: [], ids: [] }
  const rolesByProject = await Promise.all(projectIds.map((id) => actor.readRolesIn(id)))
  for (const [index, roles] of rolesByProject.entries()) {
    if (roles.projectRole !== null) visibleRows.projectIds.push(projectIds[index] as string)
    else visibleRows.ids.push(...selectOwnIds(roles))
  }
  return visibleRows
}
