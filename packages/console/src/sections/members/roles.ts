// The roles that a person can have in an object, and whether the caller may grant them. The API makes the final
// decision.
import { useRead } from '../../api/requests.ts'
import { useProject } from '../../app/project.tsx'
import { shellMeDocument, tenantRolesDocument } from '../../generated/documents.ts'
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

function listProjectRoles(myRole: string | null, isAdministrator: boolean, t: Translate): readonly Role[] {
  const own = projectRoles.findIndex((role) => role === myRole)
  return projectRoles.map((name, index) => ({
    name,
    hint: t(`members.role.${name}`),
    problem: isAdministrator || index >= own ? null : t('members.aboveOwnRole', myRole ?? ''),
  }))
}

/** Returns the roles of an object from the highest to the lowest; undefined while they are loading. */
export function useRoles(kind: Kind, objectId: string | null): readonly Role[] | undefined {
  const t = useText()
  const { myRole } = useProject()
  const { isAdministrator } = useMe()
  const isTenant = kind === 'tenant' && objectId !== null
  const { data } = useRead(tenantRolesDocument, { tenant: objectId ?? '' }, { isEnabled: isTenant })
  if (kind === 'project') return listProjectRoles(myRole, isAdministrator, t)
  if (kind === 'application')
    return applicationRoles.map((name) => ({
      name,
      hint: t(`members.applicationRole.${name}`),
      problem: null,
    }))
  if (data === undefined) return undefined
  const isAbove = isAdministrator || myRole === 'owner' || myRole === 'maintainer'
  const own = data.tenantRoleDefinitions.find(({ name }) => name === data.tenantById.myRole)
  return data.tenantRoleDefinitions
    .toSorted(
      (a, b) =>
        Number(b.name === 'owner') - Number(a.name === 'owner') ||
        b.permissions.length - a.permissions.length,
    )
    .map(({ name, permissions }) => {
      const isCovered =
        own?.name === 'owner' ||
        (name !== 'owner' &&
          own !== undefined &&
          permissions.every((permission) => own.permissions.includes(permission)))
      return {
        name,
        hint: permissions.length === 0 ? t('members.noPermissions') : permissions.join(', '),
        problem: isAbove || isCovered ? null : t('members.aboveOwnRole', own?.name ?? ''),
      }
    })
}
