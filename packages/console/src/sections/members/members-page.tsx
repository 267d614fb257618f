// The members of a project, a tenant or an application. The selected person is shown next to the list.
import './members.css'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { ListPager } from '../../app/list-pager.tsx'
import { ApplicationPicker, TenantPicker } from '../../app/object-pickers.tsx'
import { useProject } from '../../app/project.tsx'
import { usePickedApplication, usePickedTenant } from '../../app/in-project.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { Button } from '../../kit/button.tsx'
import { SearchField, Select } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { InvitationPanel } from './invitation-panel.tsx'
import { type Kind, kinds, operations } from './kinds.ts'
import { AddMemberDialog } from './member-dialogs.tsx'
import { MemberPlaceholder, MemberTable } from './member-table.tsx'
import { PersonPanel } from './person-panel.tsx'
import { useRoles } from './roles.ts'

type Target = { readonly id: string; readonly name: string; readonly myPermissions: readonly string[] }

const anyRole = '*'
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
function toFilters(list: ListSearch, roleField: string): { field: string; value: string }[] {
  const { q, role } = list.search
  return [
    ...(q === undefined ? [] : [{ field: q.includes('@') ? 'userEmail' : 'userName', value: q }]),
    ...(role === undefined ? [] : [{ field: roleField, value: role }]),
  ]
}

export function MembersPage(): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const list = useListSearch()
  const { kind, targetId, target } = useTarget(list)
  const [isAdding, setAdding] = useState(false)
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
  const isInviting =
    target !== undefined && list.search['tab'] === invitationsTab.tab && may(target, `members.${kind}.invite`)
  return (
    <Page
      title={t('section.members')}
      note={result !== undefined && number(result.totalCount)}
      actions={
        target !== undefined && (
          <Actions
            kind={kind}
            target={target}
            onAdd={() => setAdding(true)}
            onInvitations={() => list.setOpen(null, invitationsTab)}
          />
        )
      }
      isEdgeToEdge
      filters={<Filters list={list} kind={kind} targetId={targetId} />}
      panel={
        list.open === null ? (
          isInviting && <InvitationPanel kind={kind} object={target} onClose={() => list.setOpen(null)} />
        ) : (
          <PersonPanel key={list.open} userId={list.open} onClose={() => list.setOpen(null)} />
        )
      }
      foot={result !== undefined && <ListPager list={list} result={result} />}
    >
      <MemberTable
        list={list}
        kind={kind}
        rows={(result?.nodes ?? []).map((member) => ({ ...member, userId: member.user.id }))}
        placeholder={
          <MemberPlaceholder
            kind={kind}
            list={list}
            hasTarget={targetId !== null}
            isLoading={result === undefined && error === null}
            failure={error === null ? null : describeFailure(error)}
            onRetry={() => void refetch()}
          />
        }
      />
      {isAdding && target !== undefined && (
        <AddMemberDialog
          kind={kind}
          object={target}
          onClose={() => setAdding(false)}
          onAdded={(userId) => {
            setAdding(false)
            list.setOpen(userId)
          }}
        />
      )}
    </Page>
  )
}

type ActionsProps = { kind: Kind; target: Target; onAdd: () => void; onInvitations: () => void }

function Actions({ kind, target, onAdd, onInvitations }: ActionsProps): ReactNode {
  const t = useText()
  const addAction = `members.${kind}.add` as const
  return (
    <>
      {may(target, `members.${kind}.invite`) && (
        <Button onPress={onInvitations}>{t('invitations.many')}</Button>
      )}
      <Button
        variant="primary"
        icon="add"
        action={addAction}
        disabledReason={may(target, addAction) ? null : t('members.mayNotAdd')}
        onPress={onAdd}
      >
        {t('members.add')}
      </Button>
    </>
  )
}

type FiltersProps = { list: ListSearch; kind: Kind; targetId: string | null }

function Filters({ list, kind, targetId }: FiltersProps): ReactNode {
  const t = useText()
  const { search, setFilter } = list
  const [text, setText] = useSearchText(list)
  const roles = useRoles(kind, targetId)
  return (
    <>
      <Segments
        label={t('members.kind')}
        items={kinds.map((id) => ({ id, text: t(`members.of.${id}`) }))}
        selected={kind}
        onSelect={(id) => setFilter({ in: id === 'project' ? undefined : id, role: undefined })}
      />
      {kind === 'tenant' && (
        <TenantPicker
          label={t('members.of.tenant')}
          id={targetId}
          onChange={(id) => setFilter({ tenant: id, role: undefined })}
        />
      )}
      {kind === 'application' && (
        <ApplicationPicker
          label={t('members.of.application')}
          id={targetId}
          onChange={(id) => setFilter({ application: id, role: undefined })}
        />
      )}
      <SearchField label={t('members.search')} value={text} onChange={setText} />
      <Select
        label={t('members.role')}
        isChip
        value={search['role'] ?? anyRole}
        options={[
          { id: anyRole, text: t('app.any') },
          ...(roles ?? []).map(({ name }) => ({ id: name, text: name })),
        ]}
        onChange={(role) => setFilter({ role: role === anyRole ? undefined : role })}
      />
    </>
  )
}
