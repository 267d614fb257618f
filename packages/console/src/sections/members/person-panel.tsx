// A person: their identity, and every membership that the caller may see.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { namePerson } from '../../app/person-name.ts'
import { may } from '../../app/actions.ts'
import { useProject } from '../../app/project.tsx'
import { type PersonResult, personDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { IconButton } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { Avatar, Facts, Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { PersonReach } from '../reach/reach-list.tsx'
import { type Kind, type Membership, kinds, operations } from './kinds.ts'
import { ChangeRoleDialog, RemoveMemberDialog } from './member-dialogs.tsx'

type Asked = { membership: Membership; action: 'change' | 'remove' }

type PersonPanelProps = {
  userId: string
  /** The selected tab, from the address. */
  tab: string | undefined
  onTab: (tab: string) => void
  onClose: () => void
}

export function PersonPanel({ userId, tab, onTab, onClose }: PersonPanelProps): ReactNode {
  const t = useText()
  const project = useProject()
  const { data, error, refetch } = useRead(personDocument, { user: userId })
  const [asked, setAsked] = useState<Asked | null>(null)
  const user = data?.user
  const name = user === undefined ? '' : namePerson(user)
  return (
    <SidePanel
      label={name === '' ? t('section.members') : name}
      title={
        <span className="person-title">
          {user !== undefined && <Avatar name={name} />}
          <span className="truncate">{name}</span>
        </span>
      }
      subtitle={user !== undefined && <span className="truncate">{user.externalEmail}</span>}
      onClose={onClose}
    >
      {error !== null && <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {error === null && user === undefined && <Skeleton />}
      {user !== undefined && (
        <Tabs
          label={name}
          items={[
            { id: 'roles', title: t('members.roles'), content: <Roles user={user} onAsk={setAsked} /> },
            {
              id: 'access',
              title: t('reach.access'),
              content: <PersonReach userId={user.id} project={project} />,
            },
          ]}
          selected={tab === 'access' ? tab : 'roles'}
          onSelect={onTab}
        />
      )}
      {asked?.action === 'change' && (
        <ChangeRoleDialog membership={asked.membership} onClose={() => setAsked(null)} />
      )}
      {asked?.action === 'remove' && (
        <RemoveMemberDialog membership={asked.membership} onClose={() => setAsked(null)} />
      )}
    </SidePanel>
  )
}

type RolesProps = { user: PersonResult['user']; onAsk: (asked: Asked) => void }

function Roles({ user, onAsk }: RolesProps): ReactNode {
  const t = useText()
  return (
    <>
      <Facts
        items={[
          {
            label: t('members.userName'),
            value: <span className="truncate">{user.externalUsername}</span>,
          },
          { label: t('members.systemRole'), value: user.role },
          { label: t('members.id'), value: <Id value={user.id} /> },
        ]}
      />
      {kinds.map((kind) => (
        <Memberships key={kind} kind={kind} person={{ id: user.id, name: namePerson(user) }} onAsk={onAsk} />
      ))}
    </>
  )
}

type MembershipsProps = {
  kind: Kind
  person: Membership['person']
  onAsk: (asked: Asked) => void
}

function Memberships({ kind, person, onAsk }: MembershipsProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { data, error, refetch } = useRead(operations[kind].listOfPerson, { user: person.id })
  const result = data?.user.memberships
  const hidden = result === undefined ? 0 : result.totalCount - result.nodes.length
  return (
    <section className="memberships">
      <h3 className="section-title">
        {t(`members.in.${kind}`)}
        {result !== undefined && <span className="section-count">{number(result.totalCount)}</span>}
      </h3>
      {error !== null && <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {error === null && result === undefined && <Skeleton rows={2} />}
      {result?.nodes.length === 0 && <p className="muted membership-none">{t('members.noneOfKind')}</p>}
      <ul>
        {result?.nodes.map(({ object, ...membership }) => (
          <MembershipRow
            key={membership.id}
            membership={{ ...membership, kind, object, person }}
            canChange={may(object, `members.${kind}.change`)}
            canRemove={may(object, `members.${kind}.remove`)}
            onAsk={onAsk}
          />
        ))}
      </ul>
      {hidden > 0 && <p className="muted membership-none">{t('members.more', number(hidden))}</p>}
    </section>
  )
}

type RowProps = {
  membership: Membership
  canChange: boolean
  canRemove: boolean
  onAsk: (asked: Asked) => void
}

function MembershipRow({ membership, canChange, canRemove, onAsk }: RowProps): ReactNode {
  const t = useText()
  const { id } = useProject()
  const { kind, object, role } = membership
  return (
    <li className="membership">
      <span className="truncate membership-name" title={object.name}>
        {object.name}
        {object.id === id && <span className="muted"> · {t('members.thisProject')}</span>}
      </span>
      <Badge tone="outline">{role}</Badge>
      {canChange && (
        <IconButton
          icon="edit"
          size="small"
          action={`members.${kind}.change`}
          label={t('members.changeRoleIn', object.name)}
          onPress={() => onAsk({ membership, action: 'change' })}
        />
      )}
      {canRemove && (
        <IconButton
          icon="delete"
          size="small"
          action={`members.${kind}.remove`}
          label={t('members.removeFrom', object.name)}
          onPress={() => onAsk({ membership, action: 'remove' })}
        />
      )}
    </li>
  )
}
