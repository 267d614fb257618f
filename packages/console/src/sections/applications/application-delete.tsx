// Deletes an application and the objects that belong to it.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { Consequences, DeletionScope } from '../../app/consequences.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { applicationConsequencesDocument, applicationDeleteDocument } from '../../generated/documents.ts'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Application } from './application-types.ts'

type DeleteApplicationProps = { application: Application; onClose: () => void; onDeleted: () => void }

export function DeleteApplication({ application, onClose, onDeleted }: DeleteApplicationProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(applicationDeleteDocument)
  return (
    <DeleteDialog
      title={t('applications.deleteTitle', application.name)}
      isOpen
      confirmation={application.slug}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: application.id, revision: application.revision }, () => {
          showToast(t('app.deleted', application.name))
          onDeleted()
        })
      }
    >
      <DeletionScope />
      <Numbers id={application.id} />
      <p className="secondary">{t('applications.deleteCalls')}</p>
    </DeleteDialog>
  )
}

function Numbers({ id }: { id: string }): ReactNode {
  const t = useText()
  const { data, error } = useRead(applicationConsequencesDocument, { id })
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={3} />
    ) : (
      <Note tone="warn">{t('app.consequencesUnknown', describeFailure(error).message)}</Note>
    )
  const tenants = data.tenant2ApplicationsConnection.totalCount
  const members = data.user2applicationsConnection.totalCount
  const endpoints = data.endpointsConnection.totalCount
  const triggers = data.triggersConnection.totalCount
  const backends = data.backendsConnection.totalCount
  return (
    <Consequences
      items={[
        { id: 'tenants', count: tenants, text: t('applications.countTenants', tenants) },
        { id: 'members', count: members, text: t('app.countMemberships', members) },
        { id: 'endpoints', count: endpoints, text: t('applications.countEndpoints', endpoints) },
        { id: 'triggers', count: triggers, text: t('applications.countTriggers', triggers) },
        { id: 'backends', count: backends, text: t('applications.countBackends', backends) },
      ]}
    />
  )
}
