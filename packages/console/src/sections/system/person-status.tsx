// Whether a person may use the Manager, and whether an identity provider manages the person.
import type { ReactNode } from 'react'
import { Badge, Status } from '../../kit/badge.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { User } from './system-types.ts'

export function PersonStatus({ user }: { user: Pick<User, 'active' | 'provisioned'> }): ReactNode {
  const t = useText()
  return (
    <span className="system-status">
      <Status kind={user.active ? 'ok' : 'off'}>
        {t(user.active ? 'system.active' : 'system.deactivated')}
      </Status>
      {user.provisioned && <Badge tone="outline">{t('system.provisioned')}</Badge>}
    </span>
  )
}

/** The same, with who has deactivated the person. */
export function PersonStatusFacts({ user }: { user: User }): ReactNode {
  const t = useText()
  const { date } = useFormat()
  const { deactivatedByAdministratorAt, deactivatedByScimAt } = user
  return (
    <>
      <PersonStatus user={user} />
      {deactivatedByAdministratorAt !== null && (
        <p>{t('system.deactivatedByAdministrator', date(deactivatedByAdministratorAt))}</p>
      )}
      {deactivatedByScimAt !== null && <p>{t('system.deactivatedByScim', date(deactivatedByScimAt))}</p>}
    </>
  )
}
