// All endpoints of the project, by application, and which of them a machine user may call.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { endpointAccessDeleteDocument } from '../../generated/documents.ts'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { EndpointAccessRow } from './endpoint-access-row.tsx'
import { InEnvironment } from './in-environment.tsx'
import type { MachineUser } from './machine-user-types.ts'
import { type EndpointAccess, useEndpointAccess } from './use-endpoint-access.ts'

/** Lists with more endpoints have a search field. */
const searchFrom = 12

function groupByApplication(items: readonly EndpointAccess[]): ReadonlyMap<string, EndpointAccess[]> {
  const groups = new Map<string, EndpointAccess[]>()
  for (const item of items)
    groups.set(item.application.id, [...(groups.get(item.application.id) ?? []), item])
  return groups
}

export function MachineUserAccess({ user }: { user: MachineUser }): ReactNode {
  const t = useText()
  const [text, setText] = useState('')
  const [removed, setRemoved] = useState<EndpointAccess | null>(null)
  const { items, isComplete, error, refetch } = useEndpointAccess(user.id)
  if (items === undefined)
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={refetch} />
    )
  const wanted = text.trim().toLowerCase()
  const shown = items.filter(({ endpoint, application }) =>
    `${application.name} ${endpoint.name} ${endpoint.consumeURL}`.toLowerCase().includes(wanted),
  )
  return (
    <div className="endpoint-access">
      {items.length >= searchFrom && (
        <SearchField label={t('machineUsers.searchEndpoints')} value={text} onChange={setText} isWide />
      )}
      {!isComplete && <Note tone="info">{t('machineUsers.someEndpoints')}</Note>}
      {shown.length === 0 && (
        <SectionText>
          {items.length === 0 ? t('machineUsers.noEndpoints') : t('machineUsers.noEndpointMatch')}
        </SectionText>
      )}
      {[...groupByApplication(shown)].map(([id, group]) => (
        <ApplicationGroup key={id} user={user} items={group} onRemove={setRemoved} />
      ))}
      {items.length > 0 && <SectionText>{t('machineUsers.accessHint')}</SectionText>}
      {removed !== null && <RemoveAccess user={user} item={removed} onClose={() => setRemoved(null)} />}
    </div>
  )
}

type ApplicationGroupProps = {
  user: MachineUser
  items: readonly EndpointAccess[]
  onRemove: (item: EndpointAccess) => void
}

function ApplicationGroup({ user, items, onRemove }: ApplicationGroupProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const allowed = items.filter(({ row }) => row?.enabled === true).length
  return (
    <Section
      title={items[0]?.application.name ?? ''}
      note={t('machineUsers.allowedOf', number(allowed), number(items.length))}
    >
      {items.map((item) => (
        <EndpointAccessRow
          key={item.endpoint.id}
          user={user}
          item={item}
          note={item.endpoint.consumeURL}
          onRemove={onRemove}
        />
      ))}
    </Section>
  )
}

type RemoveAccessProps = { user: MachineUser; item: EndpointAccess; onClose: () => void }

function RemoveAccess({ user, item, onClose }: RemoveAccessProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(endpointAccessDeleteDocument)
  const { environment } = user
  const { endpoint, row } = item
  if (row === null) return null
  return (
    <DeleteDialog
      title={t('machineUsers.removeAccessTitle', endpoint.name)}
      isOpen
      confirmation={environment.protected ? endpoint.name : null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: row.id, revision: row.revision }, () => {
          showToast(t('machineUsers.accessRemoved', user.name, endpoint.name))
          onClose()
        })
      }
    >
      <InEnvironment environment={environment}>{t('machineUsers.removeAccessHint', user.name)}</InEnvironment>
    </DeleteDialog>
  )
}
