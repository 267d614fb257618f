import './machine-users.css'
import { type ReactNode, useMemo } from 'react'
import { useNow } from '../../app/now.ts'
import { EnvironmentBadge, Status } from '../../kit/badge.tsx'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import type { MachineUserRow } from './machine-user-types.ts'
import { type TokenAge, readTokenAge } from './token-age.ts'

export function EnabledStatus({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const t = useText()
  return (
    <Status kind={isEnabled ? 'ok' : 'off'}>
      {isEnabled ? t('machineUsers.enabled') : t('machineUsers.disabled')}
    </Status>
  )
}

export function AgeText({ age: { days, isOld } }: { age: TokenAge }): ReactNode {
  const t = useText()
  return (
    <span className="token-age">
      {isOld && <Icon name="warning" size={12} tone="warn" />}
      {isOld && <span className="visually-hidden">{t('machineUsers.toRotate')}</span>}
      {t('machineUsers.days', days)}
    </span>
  )
}

export function useMachineUserColumns(): readonly DataColumn<MachineUserRow>[] {
  const t = useText()
  const now = useNow()
  return useMemo(
    () => [
      {
        id: 'name',
        title: t('machineUsers.name'),
        sortField: 'name',
        width: '3fr',
        minWidth: 136,
        isRowHeader: true,
        priority: 1,
        render: ({ name, username, enabled }) => (
          <TwoLines
            first={name}
            second={
              <>
                {!enabled && <span className="narrow-only">{t('machineUsers.disabled')} · </span>}
                {username}
              </>
            }
          />
        ),
      },
      {
        id: 'environment',
        title: t('machineUsers.environment'),
        width: 104,
        minWidth: 92,
        priority: 1,
        render: ({ environment }) => (
          <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
        ),
      },
      {
        id: 'status',
        title: t('machineUsers.status'),
        sortField: 'enabled',
        width: 112,
        minWidth: 112,
        priority: 2,
        render: ({ enabled }) => <EnabledStatus isEnabled={enabled} />,
      },
      {
        id: 'created',
        title: t('machineUsers.created'),
        sortField: 'createdAt',
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 3,
        render: ({ createdAt }) => <Time at={createdAt} />,
      },
      {
        id: 'lastUse',
        title: t('machineUsers.lastUse'),
        align: 'end',
        width: 136,
        minWidth: 136,
        priority: 2,
        render: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
      },
      {
        id: 'age',
        title: t('machineUsers.age'),
        align: 'end',
        width: 112,
        minWidth: 112,
        priority: 1,
        render: (row) => <AgeText age={readTokenAge(row, now)} />,
      },
    ],
    [t, now],
  )
}
