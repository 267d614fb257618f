// Describes rows of access in words: the object, the reasons, and the permissions.
import type { ReactNode } from 'react'
import { type Format, useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { type ReachRow, type Reason, findReasonKind, findScope } from './reach-types.ts'

/** Returns the name of the object of a row. */
export function nameObject(t: Translate, row: ReachRow): string {
  const { project, tenant, application } = row
  const tenantName = tenant?.name ?? t('reach.hiddenTenant')
  const applicationName = application?.name ?? t('reach.hiddenApplication')
  switch (findScope(row)) {
    case 'SYSTEM':
      return t('reach.installation')
    case 'PROJECT':
      return project?.name ?? ''
    case 'TENANT':
      return tenantName
    case 'APPLICATION':
      return applicationName
    case 'TENANT_APPLICATION':
      return t('reach.applicationInTenant', applicationName, tenantName)
    case undefined:
      return application?.name ?? tenant?.name ?? project?.name ?? ''
  }
}

/** Returns what kind of object a row has, and what it covers. */
export function describeScope(t: Translate, row: ReachRow): string {
  const { covers } = row
  const scope = findScope(row)
  const kind = scope === undefined ? row.scope : t(`reach.scope.${scope}`)
  if (covers.length === 0) return kind
  return `${kind}, ${covers.includes('PROJECT') ? t('reach.coversAll') : t('reach.coversProject')}`
}

function describeReason(t: Translate, { date }: Format, reason: Reason): string {
  const { role, group, grantedAt, grantedBy } = reason
  const kind = findReasonKind(reason)
  const ownName = kind === undefined ? role : t(`reach.reason.${kind}`, role)
  const name = group === null ? ownName : t('reach.fromGroup', ownName, group)
  if (grantedAt === null) return name
  return grantedBy === null
    ? t('reach.since', name, date(grantedAt))
    : t('reach.granted', name, grantedBy, date(grantedAt))
}

/** Returns a function that puts the reasons of a row into words. */
export function useReasons(): (row: ReachRow) => string {
  const t = useText()
  const format = useFormat()
  return ({ reasons }) => reasons.map((reason) => describeReason(t, format, reason)).join('; ')
}

/** The number of permissions, which a person can expand to their names. */
export function Permissions({ permissions }: Pick<ReachRow, 'permissions'>): ReactNode {
  const t = useText()
  return (
    <details className="reach-permissions">
      <summary>{t('reach.permissions', permissions.length)}</summary>
      <ul>
        {permissions.map((name) => (
          <li key={name}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** States whose access the list does not show, because the person may not see their roles. */
export function HiddenNote({ kinds }: { kinds: readonly string[] }): ReactNode {
  const t = useText()
  if (kinds.length === 0) return null
  return (
    <p className="muted reach-hidden">
      {kinds.includes('PROJECT_ROLE') ? t('reach.hiddenMembers') : t('reach.hiddenAdministrators')}
    </p>
  )
}
