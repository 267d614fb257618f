// The members of a project, a tenant or an application. The selected person is shown next to the list.
import './members.css'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { useProject } from '../../app/project.tsx'
import { usePickedApplication, usePickedTenant } from '../../app/in-project.ts'
import { Button } from '../../kit/button.tsx'
import type { ProjectMembersResult } from '../../generated/documents.ts'
import { Page } from '../../kit/page.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { ReachPager, ReachTable, useReachPage } from '../reach/reach-table.tsx'
import { InvitationPanel } from './invitation-panel.tsx'
import { type Kind, kinds, operations } from './kinds.ts'
import { AddMemberDialog } from './member-dialogs.tsx'
import { MemberFilters } from './member-filters.tsx'
import { MemberPlaceholder, MemberTable } from './member-table.tsx'
import { PersonPanel } from './person-panel.tsx'

type Target = { readonly id: string; readonly name: string; readonly myPermissions: readonly string[] }

const invitationsTab = { tab: 'invitations' } as const
const isKind = (value: string | undefined): value is Kind => kinds.some((kind) => kind === value)

/** Returns the object whose members are listed; null until the person chooses one. */
function useTarget(list: ListSearch): { kind: Kind; targetId: string | null; target: Target | undefined } {
  const project = useProject()
  const { in: kindText, tenant: tenantId, application: applicationId } = list.search
  const kind = isKind(kindText) ? kindText : 'project'
  const isTenant = kind === 'tenant' && tenantId !== undefined
  const isApplication = kind === 'application' && applicationId !== undefined
  const tenant = usePickedTenant(isTenant ? tenantId : null)
  const application = usePickedApplication(isApplication ? applicationId : null)
  const targets = {
    project: { targetId: project.id, target: project },
    tenant: { targetId: tenantId ?? null, target: tenant.item },
    application: { targetId: applicationId ?? null, target: application.item },
  }
  return { kind, ...targets[kind] }
}

/** The API combines filters with "and", so the text is compared with e-mail addresses only if it looks like one. */
function toFilters(list: ListSearch, roleField: string | null): { field: string; value: string }[] {
  const { q, role } = list.search
  return [
    ...(q === undefined ? [] : [{ field: q.includes('@') ? 'userEmail' : 'userName', value: q }]),
    ...(role === undefined || roleField === null ? [] : [{ field: roleField, value: role }]),
  ]
}

type MembersRead = {
  readonly result: ProjectMembersResult['members'] | undefined
  readonly error: Error | null
  readonly retry: () => void
}

/** Reads a page of the members of an object. Without an object, nothing is read. */
function useMembers(list: ListSearch, kind: Kind, targetId: string | null): MembersRead {
  const { roleField, list: document } = operations[kind]
  const { data, error, refetch } = useRead(
    document,
    {
      object: targetId ?? '',
      filters: toFilters(list, roleField),
      order: [list.sort ?? { field: 'userName', direction: 'ASC' }],
      pagination: { limit: list.size, offset: (list.page - 1) * list.size },
    },
    { isEnabled: targetId !== null, keepsPrevious: true },
  )
  const result = targetId === null ? undefined : data?.members
  return { result, error, retry: () => void refetch() }
}

export function MembersPage(): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const { kind, targetId, target } = useTarget(list)
  const isReach = list.search['view'] === 'access'
  const members = useMembers(list, kind, isReach ? null : targetId)
  const reach = useReachPage(list, {
    kind,
    id: isReach ? targetId : null,
    filters: toFilters(list, null),
  })
  const isInviting =
    target !== undefined && list.search['tab'] === invitationsTab.tab && may(target, `members.${kind}.invite`)
  const { result } = members
  const { error, retry } = isReach ? reach : members
  const placeholder = (
    <MemberPlaceholder
      kind={kind}
      list={list}
      hasTarget={targetId !== null}
      isLoading={(isReach ? reach.rows : result) === undefined && error === null}
      failure={error === null ? null : describeFailure(error)}
      onRetry={retry}
    />
  )
  return (
    <Page
      title={t('section.members')}
      note={result !== undefined && number(result.totalCount)}
      actions={
        target !== undefined && (
          <>
            {may(target, `members.${kind}.invite`) && (
              <Button onPress={() => list.setOpen(null, invitationsTab)}>{t('invitations.many')}</Button>
            )}
            <AddButton
              key={target.id}
              kind={kind}
              target={target}
              onAdded={(userId) => list.setOpen(userId)}
            />
          </>
        )
      }
      isEdgeToEdge
      filters={<MemberFilters list={list} kind={kind} targetId={targetId} isReach={isReach} />}
      panel={
        list.open === null ? (
          isInviting && <InvitationPanel kind={kind} object={target} onClose={() => list.setOpen(null)} />
        ) : (
          <OpenPerson list={list} userId={list.open} />
        )
      }
      foot={
        isReach
          ? reach.rows !== undefined && <ReachPager list={list} page={reach} />
          : result !== undefined && <ListPager list={list} result={result} />
      }
    >
      {isReach ? (
        <ReachTable
          page={reach}
          placeholder={placeholder}
          onOpen={(userId) => list.setOpen(userId, { tab: 'access' })}
        />
      ) : (
        <MemberTable
          list={list}
          kind={kind}
          rows={(result?.nodes ?? []).map((member) => ({ ...member, userId: member.user.id }))}
          placeholder={placeholder}
        />
      )}
    </Page>
  )
}

const OpenPerson = ({ list, userId }: { list: ListSearch; userId: string }): ReactNode => (
  <PersonPanel
    key={userId}
    userId={userId}
    tab={list.search['tab']}
    onTab={(tab) => list.setOpen(userId, tab === 'access' ? { tab } : {})}
    onClose={() => list.setOpen(null)}
  />
)

type AddButtonProps = { kind: Kind; target: Target; onAdded: (userId: string) => void }

function AddButton({ kind, target, onAdded }: AddButtonProps): ReactNode {
  const t = useText()
  const [isAdding, setAdding] = useState(false)
  const action = `members.${kind}.add` as const
  return (
    <>
      <Button
        variant="primary"
        icon="add"
        action={action}
        disabledReason={may(target, action) ? null : t('members.mayNotAdd')}
        onPress={() => setAdding(true)}
      >
        {t('members.add')}
      </Button>
      {isAdding && (
        <AddMemberDialog
          kind={kind}
          object={target}
          onClose={() => setAdding(false)}
          onAdded={(userId) => {
            setAdding(false)
            onAdded(userId)
          }}
        />
      )}
    </>
  )
}
