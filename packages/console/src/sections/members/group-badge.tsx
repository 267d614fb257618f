// Marks a role that a group of the identity provider gives. Such a role cannot be removed from one person.
import './group-badge.css'
import type { ReactNode } from 'react'
import { Badge } from '../../kit/badge.tsx'
import { useText } from '../../texts/language.tsx'

type FromGroup = { readonly groupRuleId: string | null }

export function GroupBadge({ membership }: { membership: FromGroup }): ReactNode {
  const t = useText()
  if (membership.groupRuleId === null) return null
  return (
    <span title={t('members.groupHint')}>
      <Badge tone="info">{t('members.group')}</Badge>
    </span>
  )
}

/** The role of a membership. */
export const RoleBadges = ({
  membership,
}: {
  membership: FromGroup & { readonly role: string }
}): ReactNode => (
  <span className="role-badges">
    <Badge tone="outline">{membership.role}</Badge>
    <GroupBadge membership={membership} />
  </span>
)

/** Returns a function that says why a membership cannot be removed; null if it can. */
export function useRemoveProblem(): (membership: FromGroup) => string | null {
  const t = useText()
  return ({ groupRuleId }) => (groupRuleId === null ? null : t('members.groupRemoveHint'))
}
