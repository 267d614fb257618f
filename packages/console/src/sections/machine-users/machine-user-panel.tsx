// The details of a machine user beside the list.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useInProject } from '../../app/in-project.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { machineUserDetailDocument } from '../../generated/documents.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { type TabItem, Tabs } from '../../kit/tabs.tsx'
import { Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { MachineUserAccess } from './machine-user-access.tsx'
import { MachineUserActions } from './machine-user-actions.tsx'
import { MachineUserSummary } from './machine-user-summary.tsx'
import type { MachineUser } from './machine-user-types.ts'
import { useCanReadAccess, useEndpointAccess } from './use-endpoint-access.ts'

type MachineUserPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function MachineUserPanel({ id, ids, list }: MachineUserPanelProps): ReactNode {
  const t = useText()
  const { data, error: failure, refetch } = useRead(machineUserDetailDocument, { id })
  const { item: user, error } = useInProject(
    data?.machineUser,
    data?.machineUser.environment.project.id,
    failure,
  )
  const tab = list.search['tab']
  const keepTab = tab === undefined ? {} : { tab }
  return (
    <SidePanel
      title={user?.name ?? t('machineUsers.one')}
      subtitle={
        user !== undefined && (
          <>
            <EnvironmentBadge name={user.environment.name} isProtected={user.environment.protected} />
            <Id value={user.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, keepTab)} />}
      foot={user !== undefined && <MachineUserActions user={user} onDeleted={() => list.setOpen(null)} />}
      onClose={() => list.setOpen(null)}
    >
      {user !== undefined ? (
        <PanelTabs user={user} list={list} />
      ) : error === null ? (
        <Skeleton rows={10} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </SidePanel>
  )
}

function PanelTabs({ user, list }: { user: MachineUser; list: ListSearch }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const canReadAccess = useCanReadAccess()
  const { items: access } = useEndpointAccess(user.id)
  const openTab = (tab: string): void => list.setOpen(user.id, tab === 'summary' ? {} : { tab })
  const items: readonly TabItem[] = [
    {
      id: 'summary',
      title: t('app.summary'),
      content: <MachineUserSummary user={user} onTab={openTab} />,
    },
    ...(canReadAccess
      ? [
          {
            id: 'access',
            title: t('machineUsers.access'),
            ...(access === undefined
              ? {}
              : { count: number(access.filter(({ row }) => row?.enabled === true).length) }),
            content: <MachineUserAccess user={user} />,
          },
        ]
      : []),
  ]
  const selected = items.find(({ id }) => id === list.search['tab'])?.id ?? 'summary'
  return <Tabs label={user.name} items={items} selected={selected} onSelect={openTab} />
}
