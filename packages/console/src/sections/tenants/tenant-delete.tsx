// Deletes a tenant and the objects that belong to it.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { Consequences, DeletionScope } from '../../app/consequences.tsx'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { listOwnSettings } from '../../app/own-settings.ts'
import { useSubmit } from '../../app/use-submit.ts'
import { tenantConsequencesDocument, tenantDeleteDocument } from '../../generated/documents.ts'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Tenant } from './tenant-types.ts'

type DeleteTenantProps = { tenant: Tenant; onClose: () => void; onDeleted: () => void }

export function DeleteTenant({ tenant, onClose, onDeleted }: DeleteTenantProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(tenantDeleteDocument)
  return (
    <DeleteDialog
      title={t('tenants.deleteTitle', tenant.name)}
      isOpen
      confirmation={tenant.slug}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: tenant.id, revision: tenant.revision }, () => {
          showToast(t('app.deleted', tenant.name))
          onDeleted()
        })
      }
    >
      <DeletionScope />
      <Numbers id={tenant.id} />
    </DeleteDialog>
  )
}

function Numbers({ id }: { id: string }): ReactNode {
  const t = useText()
  const { data, error } = useRead(tenantConsequencesDocument, { id }, { isSensitive: true })
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={3} />
    ) : (
      <Note tone="warn">{t('app.consequencesUnknown', describeFailure(error).message)}</Note>
    )
  const { nodes, totalCount: rows } = data.tenant2ApplicationsConnection
  const members = data.user2tenantsConnection.totalCount
  const roles = data.tenantRoleDefinitionsConnection.totalCount
  const own = listOwnSettings(data.settings).length
  const applicationSettings = nodes.reduce(
    (sum, { settings }) => sum + (settings === null ? 0 : listOwnSettings(settings).length),
    0,
  )
  return (
    <Consequences
      items={[
        { id: 'rows', count: rows, text: t('tenants.countRows', rows) },
        { id: 'members', count: members, text: t('app.countMemberships', members) },
        { id: 'settings', count: own, text: t('tenants.countSettings', own) },
        {
          id: 'applicationSettings',
          count: rows > nodes.length ? `${applicationSettings}+` : applicationSettings,
          text: t('tenants.countApplicationSettings', applicationSettings),
        },
        { id: 'roles', count: roles, text: t('tenants.countRoles', roles) },
      ]}
    />
  )
}
