// The role definitions of a tenant. Every tenant has the roles member, admin and owner.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { tenantRoleListDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { DeleteRole } from './role-delete.tsx'
import { RoleDialog } from './role-dialog.tsx'
import type { Role, Tenant } from './tenant-types.ts'

type Open = { kind: 'create' } | { kind: 'edit' | 'delete'; role: Role }

export function TenantRoles({ tenant }: { tenant: Tenant }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [open, setOpen] = useState<Open | null>(null)
  const { data, error, refetch } = useRead(tenantRoleListDocument, { tenant: tenant.id })
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={5} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  const { nodes, totalCount } = data.tenantRoleDefinitionsConnection
  const close = (): void => setOpen(null)
  return (
    <Section
      title={t('tenants.roles')}
      note={number(totalCount)}
      action={
        may(tenant, 'tenants.createRole') && (
          <Button
            size="small"
            icon="add"
            action="tenants.createRole"
            onPress={() => setOpen({ kind: 'create' })}
          >
            {t('tenants.newRole')}
          </Button>
        )
      }
    >
      {nodes.map((role) => (
        <RoleRow
          key={role.id}
          role={role}
          tenant={tenant}
          onEdit={() => setOpen({ kind: 'edit', role })}
          onDelete={() => setOpen({ kind: 'delete', role })}
        />
      ))}
      <SectionText>{t('tenants.rolesHint')}</SectionText>
      {open?.kind === 'create' && <RoleDialog tenant={tenant} existing={null} onClose={close} />}
      {open?.kind === 'edit' && (
        <RoleDialog
          tenant={tenant}
          existing={nodes.find(({ id }) => id === open.role.id) ?? open.role}
          onClose={close}
        />
      )}
      {open?.kind === 'delete' && <DeleteRole tenant={tenant} role={open.role} onClose={close} />}
    </Section>
  )
}

type RoleRowProps = { role: Role; tenant: Tenant; onEdit: () => void; onDelete: () => void }

function RoleRow({ role, tenant, onEdit, onDelete }: RoleRowProps): ReactNode {
  const t = useText()
  // The API rejects changes of the role owner, so that a tenant can always be managed.
  const canEdit = may(tenant, 'tenants.editRole') && !(role.seeded && role.name === 'owner')
  return (
    <SectionRow
      isTall
      end={
        <>
          {role.seeded && <span className="muted">{t('tenants.seeded')}</span>}
          {canEdit && (
            <IconButton
              icon="edit"
              size="small"
              action="tenants.editRole"
              label={t('tenants.editRole', role.name)}
              onPress={onEdit}
            />
          )}
          {may(tenant, 'tenants.deleteRole') && !role.seeded && (
            <IconButton
              icon="delete"
              size="small"
              action="tenants.deleteRole"
              label={t('tenants.deleteRole', role.name)}
              onPress={onDelete}
            />
          )}
        </>
      }
    >
      <div className="role">
        <span className="truncate">{role.name}</span>
        <span className="role-permissions">
          {role.permissions.length === 0 ? (
            <span className="muted">{t('tenants.noPermissions')}</span>
          ) : (
            role.permissions.map((permission) => (
              <Badge key={permission} tone="outline">
                {permission}
              </Badge>
            ))
          )}
        </span>
      </div>
    </SectionRow>
  )
}
