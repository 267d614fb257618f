// A person: their identity, and every membership that the caller may see.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { namePerson } from '../../app/person-name.ts'
import { may } from '../../app/actions.ts'
import { useProject } from '../../app/project.tsx'
import { type PersonResult, personDocument, personReachDocument } from '../../generated/documents.ts'
import { IconButton } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { Avatar, Facts, Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { PersonReach } from '../reach/reach-list.tsx'
import { RoleBadges, useRemoveProblem } from './group-badge.tsx'
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
  const { user, shown, error, retry } = usePerson(userId)
  const [asked, setAsked] = useState<Asked | null>(null)
  const name = shown === undefined ? '' : namePerson(shown)
  const access = <PersonReach userId={userId} project={project} />
  const tabs = [
    ...(user === undefined
      ? []
      : [{ id: 'roles', title: t('members.roles'), content: <Roles user={user} onAsk={setAsked} /> }]),
    { id: 'access', title: t('reach.access'), content: access },
  ]
  return (
    <SidePanel
      label={name === '' ? t('section.members') : name}
      title={
        <span className="person-title">
          {shown !== undefined && <Avatar name={name} />}
          <span className="truncate">{name}</span>
        </span>
      }
      subtitle={shown !== undefined && <span className="truncate">{shown.externalEmail}</span>}
      onClose={onClose}
    >
      {shown === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={retry} />
      )}
      {shown === undefined && error === null && <Skeleton />}
      {shown !== undefined && (
        <Tabs
          label={name}
          items={tabs}
          selected={tabs.find(({ id }) => id === tab)?.id ?? tabs[0]?.id ?? 'access'}
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

/**
 * Reads a person. People who share no project with the caller, such as members of a tenant, have no profile for the
 * caller. Their names are read with their access.
 */
function usePerson(userId: string) {
  const { id: projectId } = useProject()
  const profile = useRead(personDocument, { user: userId })
  const user = profile.data?.user
  const access = useRead(
    personReachDocument,
    { user: userId, project: projectId, pagination: { limit: 1, offset: 0 } },
    { isEnabled: user === undefined && profile.error !== null },
  )
  const isDecided = access.data !== undefined || access.error !== null
  return {
    user,
    shown: user ?? access.data?.access.nodes[0]?.user,
    error: isDecided ? profile.error : null,
    retry: () => void profile.refetch(),
  }
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
  const { kind, object } = membership
  const findRemoveProblem = useRemoveProblem()
  return (
    <li className="membership">
      <span className="truncate membership-name" title={object.name}>
        {object.name}
        {object.id === id && <span className="muted"> · {t('members.thisProject')}</span>}
      </span>
      <RoleBadges membership={membership} />
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
          disabledReason={findRemoveProblem(membership)}
          onPress={() => onAsk({ membership, action: 'remove' })}
        />
      )}
    </li>
  )
}
