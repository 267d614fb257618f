// A group: the roles that its rules give, and its people.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { type ProvisioningGroupResult, provisioningGroupDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { Facts, Id, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { AddRuleDialog } from './add-rule-dialog.tsx'
import { GroupPeople } from './group-people.tsx'
import { GroupRules } from './group-rules.tsx'

type Group = ProvisioningGroupResult['group']
type GroupPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function GroupPanel({ id, ids, list }: GroupPanelProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { data, error, refetch } = useRead(provisioningGroupDocument, { id })
  const [isAdding, setAdding] = useState(false)
  const group = data?.group
  const isPeople = list.search['tab'] === 'people'
  const tab = isPeople ? { tab: 'people' } : {}
  return (
    <SidePanel
      title={group?.displayName ?? t('provisioning.group')}
      subtitle={group !== undefined && t('provisioning.peopleCount', group.memberCount)}
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, tab)} />}
      foot={group !== undefined && <AddRuleButton onPress={() => setAdding(true)} />}
      onClose={() => list.setOpen(null)}
    >
      {group === undefined && error === null && <Skeleton rows={8} />}
      {group === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {group !== undefined && (
        <Tabs
          label={group.displayName}
          items={[
            { id: 'summary', title: t('app.summary'), content: <Summary group={group} /> },
            {
              id: 'people',
              title: t('provisioning.people'),
              count: number(group.memberCount),
              content: <GroupPeople groupId={group.id} />,
            },
          ]}
          selected={isPeople ? 'people' : 'summary'}
          onSelect={(next) => list.setOpen(id, next === 'people' ? { tab: next } : {})}
        />
      )}
      {isAdding && group !== undefined && <AddRuleDialog group={group} onClose={() => setAdding(false)} />}
    </SidePanel>
  )
}

function AddRuleButton({ onPress }: { onPress: () => void }): ReactNode {
  const t = useText()
  const mayCreate = useSystemMay('provisioning.createRule')
  return (
    mayCreate && (
      <Button icon="add" action="provisioning.createRule" onPress={onPress}>
        {t('provisioning.addRule')}
      </Button>
    )
  )
}

function Summary({ group }: { group: Group }): ReactNode {
  const t = useText()
  const { id, externalId, createdAt, updatedAt } = group
  return (
    <>
      <GroupRules groupId={id} />
      <Facts
        items={[
          ...(externalId === null
            ? []
            : [{ label: t('provisioning.externalId'), value: <Id value={externalId} /> }]),
          { label: t('members.changedAt'), value: <Time at={updatedAt} /> },
          { label: t('token.created'), value: <Time at={createdAt} /> },
          { label: t('provisioning.groupId'), value: <Id value={id} /> },
        ]}
      />
    </>
  )
}
