// A person: system role, memberships, and personal access tokens.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { namePerson } from '../../app/person-name.ts'
import { may } from '../../app/actions.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { systemUserDocument } from '../../generated/documents.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { Avatar, Facts, Id, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { useRemoveProblem } from '../members/group-badge.tsx'
import { type Membership, kinds } from '../members/kinds.ts'
import { RemoveMemberDialog } from '../members/member-dialogs.tsx'
import { MembershipList } from '../members/membership-list.tsx'
import { PersonReach } from '../reach/reach-list.tsx'
import { ActivationButton } from './activation-dialogs.tsx'
import { PersonStatusFacts } from './person-status.tsx'
import { SystemRole } from './system-role.tsx'
import { SystemRoleDialog } from './system-role-dialog.tsx'
import type { User } from './system-types.ts'
import { UserTokens } from './user-tokens.tsx'

type UserPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function UserPanel({ id, ids, list }: UserPanelProps): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(systemUserDocument, { id })
  const mayChange = useSystemMay('users.changeRole')
  const [isChanging, setChanging] = useState(false)
  const user = data?.user
  const name = user === undefined ? '' : namePerson(user)
  const selected = ['access', 'tokens'].find((one) => one === list.search['tab'])
  const tab = selected === undefined ? {} : { tab: selected }
  return (
    <SidePanel
      label={name === '' ? t('members.person') : name}
      title={
        <span className="system-person">
          {user !== undefined && <Avatar name={name} />}
          <span className="truncate">{name}</span>
        </span>
      }
      subtitle={user !== undefined && <span className="truncate">{user.externalEmail}</span>}
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, tab)} />}
      foot={
        user !== undefined && (
          <>
            {mayChange && (
              <Button action="users.changeRole" onPress={() => setChanging(true)}>
                {t('system.changeRole')}
              </Button>
            )}
            <ActivationButton user={user} />
          </>
        )
      }
      onClose={() => list.setOpen(null)}
    >
      {user === undefined && error === null && <Skeleton rows={10} />}
      {user === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {user !== undefined && (
        <Tabs
          label={name}
          items={[
            { id: 'summary', title: t('app.summary'), content: <Summary user={user} /> },
            { id: 'access', title: t('reach.access'), content: <PersonReach userId={user.id} /> },
            { id: 'tokens', title: t('section.tokens'), content: <UserTokens userId={user.id} /> },
          ]}
          selected={selected ?? 'summary'}
          onSelect={(next) => list.setOpen(id, next === 'summary' ? {} : { tab: next })}
        />
      )}
      {isChanging && user !== undefined && (
        <SystemRoleDialog user={user} onClose={() => setChanging(false)} />
      )}
    </SidePanel>
  )
}

function Summary({ user }: { user: User }): ReactNode {
  const t = useText()
  const findRemoveProblem = useRemoveProblem()
  const [removed, setRemoved] = useState<Membership | null>(null)
  const person = { id: user.id, name: namePerson(user) }
  return (
    <>
      <Facts
        items={[
          {
            label: t('members.systemRole'),
            value: <SystemRole role={user.role} />,
          },
          { label: t('system.status'), value: <PersonStatusFacts user={user} /> },
          { label: t('members.userName'), value: user.externalUsername },
          { label: t('members.changedAt'), value: <Time at={user.updatedAt} /> },
          { label: t('members.id'), value: <Id value={user.id} /> },
        ]}
      />
      <p className="system-hint">{t(user.provisioned ? 'system.provisionedHint' : 'system.profileHint')}</p>
      {kinds.map((kind) => (
        <MembershipList
          key={kind}
          kind={kind}
          userId={user.id}
          linkTo="members"
          renderEnd={({ object, ...membership }) =>
            may(object, `members.${kind}.remove`) && (
              <IconButton
                icon="delete"
                size="small"
                action={`members.${kind}.remove`}
                label={t('members.removeFrom', object.name)}
                disabledReason={findRemoveProblem(membership)}
                onPress={() => setRemoved({ ...membership, kind, object, person })}
              />
            )
          }
        />
      ))}
      {removed !== null && <RemoveMemberDialog membership={removed} onClose={() => setRemoved(null)} />}
    </>
  )
}
