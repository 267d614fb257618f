// The details of a rule beside the list. The list may not show it, for example because of a filter.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { namePerson } from '../../app/person-name.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { provisioningRuleDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { Facts, Id, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { ChangeRuleDialog, DeleteRuleDialog } from './rule-dialogs.tsx'
import { type Rule, RuleObjectLink, describeScope, nameRuleObject } from './rules.tsx'

type RulePanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function RulePanel({ id, ids, list }: RulePanelProps): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(provisioningRuleDocument, { id })
  const rule = data?.rules.nodes[0]
  const close = (): void => list.setOpen(null)
  return (
    <SidePanel
      title={rule?.group.displayName ?? t('provisioning.rule')}
      subtitle={
        rule !== undefined && (
          <span className="truncate">{t('provisioning.roleInObject', rule.role, nameRuleObject(rule))}</span>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next)} />}
      foot={rule !== undefined && <Foot rule={rule} onDeleted={close} />}
      onClose={close}
    >
      {rule !== undefined && <RuleFacts rule={rule} />}
      {data === undefined && error === null && <Skeleton />}
      {data === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {data !== undefined && rule === undefined && (
        <State icon="members" title={t('provisioning.ruleNotFound')}>
          {t('provisioning.ruleNotFoundHint')}
        </State>
      )}
    </SidePanel>
  )
}

function RuleFacts({ rule }: { rule: Rule }): ReactNode {
  const t = useText()
  const { id, group, role, creator, createdAt, updatedAt } = rule
  return (
    <Facts
      items={[
        {
          label: t('provisioning.group'),
          value: (
            <Link to="/system/provisioning" search={{ view: 'groups', open: group.id } as never}>
              {group.displayName}
            </Link>
          ),
        },
        { label: t('provisioning.people'), value: t('provisioning.peopleCount', group.memberCount) },
        { label: t('provisioning.roleIn'), value: <RuleObjectLink rule={rule} /> },
        { label: t('provisioning.scope'), value: describeScope(t, rule) },
        { label: t('members.role'), value: <Badge tone="outline">{role}</Badge> },
        {
          label: t('provisioning.creator'),
          value: (
            <Link to="/system/users" search={{ open: creator.id } as never} title={creator.externalEmail}>
              {namePerson(creator)}
            </Link>
          ),
        },
        { label: t('token.created'), value: <Time at={createdAt} /> },
        { label: t('members.changedAt'), value: <Time at={updatedAt} /> },
        { label: t('provisioning.ruleId'), value: <Id value={id} /> },
      ]}
    />
  )
}

function Foot({ rule, onDeleted }: { rule: Rule; onDeleted: () => void }): ReactNode {
  const t = useText()
  const mayChange = useSystemMay('provisioning.changeRule')
  const mayDelete = useSystemMay('provisioning.deleteRule')
  const [dialog, setDialog] = useState<'change' | 'delete' | null>(null)
  const close = (): void => setDialog(null)
  return (
    <>
      {mayChange && (
        <Button action="provisioning.changeRule" onPress={() => setDialog('change')}>
          {t('members.changeRole')}
        </Button>
      )}
      {mayDelete && (
        <span className="side-panel-foot-end">
          <Button
            variant="quietDanger"
            icon="delete"
            action="provisioning.deleteRule"
            onPress={() => setDialog('delete')}
          >
            {t('kit.delete')}
          </Button>
        </span>
      )}
      {dialog === 'change' && <ChangeRuleDialog rule={rule} onClose={close} />}
      {dialog === 'delete' && <DeleteRuleDialog rule={rule} onClose={close} onDeleted={onDeleted} />}
    </>
  )
}
