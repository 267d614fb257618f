// Determines the permissions of each role from the table of permissions that the API enforces.
import type { Permission } from '../../generated/documents.ts'
import { permissions } from '../../generated/permissions.ts'
import { type applicationRoles, projectRoles } from '../members/role-names.ts'

/** From the highest to the lowest. */
export const roles = ['administrator', ...projectRoles] as const
export type Role = (typeof roles)[number]
type ProjectRole = (typeof projectRoles)[number]

/** The conditions of a permission; a caller needs to meet one of them. */
export type Requirement = {
  readonly system?: 'user' | 'administrator'
  readonly project?: ProjectRole
  readonly tenant?: string
  readonly application?: (typeof applicationRoles)[number]
  readonly anyMembership?: true
  readonly anyProject?: ProjectRole
}

export type Right = { readonly id: Permission; readonly requirement: Requirement }

export const rights: readonly Right[] = Object.entries(
  permissions satisfies Record<Permission, Requirement>,
).map(([id, requirement]) => ({ id: id as Permission, requirement }))

const isAtLeast = (role: ProjectRole, lowest: ProjectRole | undefined): boolean =>
  lowest !== undefined && projectRoles.indexOf(role) <= projectRoles.indexOf(lowest)

/** Returns whether a role is sufficient for a permission. A project role applies to its own project. */
export function hasRight(role: Role, requirement: Requirement): boolean {
  if (role === 'administrator' || requirement.system === 'user') return true
  return (
    requirement.anyMembership === true ||
    isAtLeast(role, requirement.project) ||
    isAtLeast(role, requirement.anyProject)
  )
}
