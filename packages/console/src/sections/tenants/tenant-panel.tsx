// The details of a tenant, next to the list.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { useInProject } from '../../app/in-project.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useTenantCounts } from '../../app/tenant-counts.ts'
import { tenantDetailDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { OpenInvitations } from '../invitations/open-invitations.tsx'
import { ObjectReach } from '../reach/reach-list.tsx'
import { CopyDialog } from './copy-dialog.tsx'
import { TenantApplications } from './tenant-applications.tsx'
import { DeleteTenant } from './tenant-delete.tsx'
import { TenantDialog } from './tenant-dialog.tsx'
import type { Tenant } from './tenant-types.ts'
import { TenantMembers } from './tenant-members.tsx'
import { TenantRoles } from './tenant-roles.tsx'
import { TenantSettings } from './tenant-settings.tsx'
import { TenantSummary } from './tenant-summary.tsx'

const invitationActions = { invite: 'tenants.invite', revoke: 'tenants.revokeInvitation' } as const

type TenantPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

export function TenantPanel({ id, ids, list }: TenantPanelProps): ReactNode {
  const t = useText()
  const { data, error: failure, refetch } = useRead(tenantDetailDocument, { id })
  const { item: tenant, error } = useInProject(data?.tenantById, data?.tenantById.project.id, failure)
  const tab = list.search['tab']
  const keepTab = tab === undefined ? {} : { tab }
  return (
    <SidePanel
      title={tenant?.name ?? t('tenants.one')}
      subtitle={
        tenant !== undefined && (
          <>
            <code className="truncate">{tenant.slug}</code>
            <span aria-hidden="true">·</span>
            <span>{tenant.deploymentMode}</span>
            <span aria-hidden="true">·</span>
            <Id value={tenant.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next, keepTab)} />}
      foot={tenant !== undefined && <Foot tenant={tenant} list={list} />}
      onClose={() => list.setOpen(null)}
    >
      {tenant !== undefined ? (
        <PanelTabs tenant={tenant} list={list} />
      ) : error === null ? (
        <Skeleton rows={10} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </SidePanel>
  )
}

function PanelTabs({ tenant, list }: { tenant: Tenant; list: ListSearch }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const counts = useTenantCounts([tenant]).get(tenant.id)
  const can = (permission: Tenant['myPermissions'][number]): boolean =>
    tenant.myPermissions.includes(permission)
  const openTab = (tab: string): void => list.setOpen(tenant.id, tab === 'summary' ? {} : { tab })
  const count = (value: number | null | undefined) =>
    value === null || value === undefined ? {} : { count: number(value) }
  const items = [
    {
      id: 'summary',
      title: t('app.summary'),
      content: <TenantSummary tenant={tenant} onTab={openTab} />,
    },
    ...(can('TENANT2APPLICATION_READ')
      ? [
          {
            id: 'applications',
            title: t('section.applications'),
            ...count(counts?.applications),
            content: <TenantApplications tenant={tenant} />,
          },
        ]
      : []),
    ...(can('TENANT_MEMBER_READ')
      ? [
          {
            id: 'members',
            title: t('section.members'),
            ...count(counts?.members),
            content: <TenantMembers tenant={tenant} />,
          },
        ]
      : []),
    ...(can('INVITATION_READ')
      ? [
          {
            id: 'invitations',
            title: t('invitations.many'),
            content: <OpenInvitations kind="tenant" object={tenant} actions={invitationActions} />,
          },
        ]
      : []),
    ...(can('ACCESS_READ')
      ? [{ id: 'access', title: t('reach.who'), content: <ObjectReach kind="tenant" id={tenant.id} /> }]
      : []),
    ...(can('SETTINGS_READ')
      ? [{ id: 'settings', title: t('section.settings'), content: <TenantSettings tenant={tenant} /> }]
      : []),
    ...(can('TENANT_ROLE_READ')
      ? [{ id: 'roles', title: t('tenants.roles'), content: <TenantRoles tenant={tenant} /> }]
      : []),
  ]
  const selected = items.find(({ id }) => id === list.search['tab'])?.id ?? 'summary'
  return <Tabs label={tenant.name} items={items} selected={selected} onSelect={openTab} />
}

function Foot({ tenant, list }: { tenant: Tenant; list: ListSearch }): ReactNode {
  const t = useText()
  const [dialog, setDialog] = useState<'edit' | 'copy' | 'delete' | null>(null)
  const close = (): void => setDialog(null)
  const canEdit = may(tenant, 'tenants.edit')
  const canCopy = may(tenant, 'tenants.copySettings')
  const canDelete = may(tenant, 'tenants.delete')
  if (!canEdit && !canCopy && !canDelete) return <span className="muted">{t('tenants.readOnly')}</span>
  return (
    <>
      {canEdit && (
        <Button action="tenants.edit" onPress={() => setDialog('edit')}>
          {t('kit.edit')}
        </Button>
      )}
      {canCopy && (
        <Button icon="copy" action="tenants.copySettings" onPress={() => setDialog('copy')}>
          {t('tenants.copySettings')}
        </Button>
      )}
      <span className="side-panel-foot-end">
        {canDelete && (
          <Button
            variant="quietDanger"
            icon="delete"
            action="tenants.delete"
            onPress={() => setDialog('delete')}
          >
            {t('kit.delete')}
          </Button>
        )}
      </span>
      {dialog === 'edit' && <TenantDialog tenant={tenant} onClose={close} onSaved={close} />}
      {dialog === 'copy' && <CopyDialog tenant={tenant} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteTenant tenant={tenant} onClose={close} onDeleted={() => list.setOpen(null)} />
      )}
    </>
  )
}
