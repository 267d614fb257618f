// Deletes a role definition. Members with this role must get another role first.
import type { ReactNode } from 'react'
import { useRead } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { tenantMemberPageDocument, tenantRoleDeleteDocument } from '../../generated/documents.ts'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Role, Tenant } from './tenant-types.ts'

type DeleteRoleProps = { tenant: Tenant; role: Role; onClose: () => void }

export function DeleteRole({ tenant, role, onClose }: DeleteRoleProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(tenantRoleDeleteDocument)
  const { data } = useRead(
    tenantMemberPageDocument,
    {
      tenant: tenant.id,
      filters: [{ field: 'roleName', value: role.name }],
      pagination: { limit: 1, offset: 0 },
    },
    { isEnabled: tenant.myPermissions.includes('TENANT_MEMBER_READ') },
  )
  const members = data?.user2tenantsConnection.totalCount
  return (
    <DeleteDialog
      title={t('tenants.deleteRoleTitle', role.name)}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: role.id, revision: role.revision }, () => {
          showToast(t('app.deleted', role.name))
          onClose()
        })
      }
    >
      <p>
        {members === undefined || members === 0
          ? t('tenants.deleteRoleUnused')
          : t('tenants.deleteRoleUsed', members)}
      </p>
    </DeleteDialog>
  )
}
