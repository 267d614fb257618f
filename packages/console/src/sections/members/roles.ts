// The roles that a person can have in an object, and whether the caller may grant them. The API makes the final
// decision.
import { useRead } from '../../api/requests.ts'
import { useProject } from '../../app/project.tsx'
import { type TenantRolesResult, shellMeDocument, tenantRolesDocument } from '../../generated/documents.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import type { Kind } from './kinds.ts'
import { applicationRoles, projectRoles } from './role-names.ts'

export type Role = {
  readonly name: string
  /** The permissions of the role. */
  readonly hint: string
  /** Why the caller may not grant or change the role; null if they may. */
  readonly problem: string | null
}

/** Returns the caller: their id, and whether they are an administrator of the installation. */
export function useMe(): { id: string | null; isAdministrator: boolean } {
  const { data } = useRead(shellMeDocument, {})
  return { id: data?.me.id ?? null, isAdministrator: data?.me.role === 'administrator' }
}

type Definition = TenantRolesResult['tenantRoleDefinitions'][number]

/** The role `owner` is first, then the role with the most permissions. */
const sortDefinitions = (definitions: readonly Definition[]): readonly Definition[] =>
  definitions.toSorted(
    (a, b) =>
      Number(b.name === 'owner') - Number(a.name === 'owner') || b.permissions.length - a.permissions.length,
  )

const createRole = (name: string, hint: string): Role => ({ name, hint, problem: null })

function listRoles(t: Translate, kind: Kind, definitions: readonly Definition[]): readonly Role[] {
  if (kind === 'project') return projectRoles.map((name) => createRole(name, t(`members.role.${name}`)))
  if (kind === 'application')
    return applicationRoles.map((name) => createRole(name, t(`members.applicationRole.${name}`)))
  return sortDefinitions(definitions).map(({ name, permissions }) =>
    createRole(name, permissions.length === 0 ? t('members.noPermissions') : permissions.join(', ')),
  )
}

/** Reads the role definitions and the caller's role of a tenant. Other objects have no definitions. */
function useTenantRoles(kind: Kind, objectId: string | null): TenantRolesResult | undefined {
  const isTenant = kind === 'tenant' && objectId !== null
  return useRead(tenantRolesDocument, { tenant: objectId ?? '' }, { isEnabled: isTenant }).data
}

/**
 * Returns the roles of an object from the highest to the lowest, all of which administrators may grant; undefined while
 * they are loading.
 */
export function useAllRoles(kind: Kind, objectId: string | null): readonly Role[] | undefined {
  const t = useText()
  const data = useTenantRoles(kind, objectId)
  if (kind === 'tenant' && data === undefined) return undefined
  return listRoles(t, kind, data?.tenantRoleDefinitions ?? [])
}

/** Returns whether a role of a tenant has no permission that the own role lacks. */
const isCovered = (own: Definition | undefined, wanted: Definition | undefined): boolean =>
  own?.name === 'owner' ||
  (own !== undefined &&
    wanted !== undefined &&
    wanted.name !== 'owner' &&
    wanted.permissions.every((permission) => own.permissions.includes(permission)))

/** The same roles. The ones that the caller may not grant have a problem. */
export function useRoles(kind: Kind, objectId: string | null): readonly Role[] | undefined {
  const t = useText()
  const { myRole } = useProject()
  const { isAdministrator } = useMe()
  const data = useTenantRoles(kind, objectId)
  const roles = useAllRoles(kind, objectId)
  if (roles === undefined || isAdministrator || kind === 'application') return roles
  const limit = (ownName: string | null, mayGrant: (name: string) => boolean): readonly Role[] =>
    roles.map((role) =>
      mayGrant(role.name) ? role : { ...role, problem: t('members.aboveOwnRole', ownName ?? '') },
    )
  if (kind === 'project') {
    const own = projectRoles.findIndex((role) => role === myRole)
    return limit(myRole, (name) => projectRoles.findIndex((role) => role === name) >= own)
  }
  if (myRole === 'owner' || myRole === 'maintainer') return roles
  const definitions = data?.tenantRoleDefinitions ?? []
  const find = (name: string | null | undefined) => definitions.find((one) => one.name === name)
  const own = find(data?.tenantById.myRole)
  return limit(own?.name ?? null, (name) => isCovered(own, find(name)))
}
