// All applications of the project. Switches show which of them the tenant uses.
import './tenants.css'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { may } from '../../app/actions.ts'
import { useProject } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { accessDeleteDocument } from '../../generated/documents.ts'
import { IconButton } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { SearchField } from '../../kit/form.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { ApplicationSwitch } from './application-switch.tsx'
import type { Tenant } from './tenant-types.ts'
import { type TenantApplication, useTenantRows } from './use-tenant-rows.ts'

/** Longer lists of applications have a search field. */
const searchFrom = 12

export function TenantApplications({ tenant }: { tenant: Tenant }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [text, setText] = useState('')
  const [removed, setRemoved] = useState<TenantApplication | null>(null)
  const { items, error, refetch } = useTenantRows(tenant)
  if (items === undefined)
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={refetch} />
    )
  const enabled = items.filter(({ row }) => row?.enabled === true).length
  const wanted = text.trim().toLowerCase()
  const shown = items.filter(({ application: { name, slug } }) =>
    `${name} ${slug}`.toLowerCase().includes(wanted),
  )
  return (
    <Section
      title={t('section.applications')}
      note={t('tenants.ofOn', number(enabled), number(items.length))}
    >
      {items.length >= searchFrom && (
        <SearchField label={t('tenants.searchApplications')} value={text} onChange={setText} isWide />
      )}
      {shown.length === 0 && (
        <SectionText>
          {items.length === 0 ? t('tenants.noApplications') : t('tenants.noApplicationMatch')}
        </SectionText>
      )}
      {shown.map((item) => (
        <ApplicationRow key={item.application.id} tenant={tenant} item={item} onRemove={setRemoved} />
      ))}
      <SectionText>{t('tenants.applicationsHint')}</SectionText>
      {removed !== null && (
        <RemoveApplication tenant={tenant} item={removed} onClose={() => setRemoved(null)} />
      )}
    </Section>
  )
}

type ApplicationRowProps = {
  tenant: Tenant
  item: TenantApplication
  onRemove?: (item: TenantApplication) => void
}

export function ApplicationRow({ tenant, item, onRemove }: ApplicationRowProps): ReactNode {
  const t = useText()
  const canRemove = may(tenant, 'tenants.removeApplication')
  return (
    <SectionRow
      end={
        <>
          <OwnSettings tenant={tenant} item={item} />
          {onRemove !== undefined && canRemove && item.row !== null && (
            <IconButton
              icon="delete"
              size="small"
              action="tenants.removeApplication"
              label={t('tenants.removeApplication', item.application.name)}
              onPress={() => onRemove(item)}
            />
          )}
        </>
      }
    >
      <ApplicationSwitch tenant={tenant} item={item} />
    </SectionRow>
  )
}

export function OwnSettings({ tenant, item }: { tenant: Tenant; item: TenantApplication }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  if (item.row === null) return <span className="muted">{t('tenants.neverAdded')}</span>
  if (item.settingsCount === null) return null
  if (item.settingsCount === 0) return <span className="muted">{t('tenants.inheritsAll')}</span>
  return (
    <Link
      to="/p/$project/settings"
      params={{ project: slug }}
      search={{ tenant: tenant.id, application: item.application.id } as never}
    >
      {t('tenants.ownSettingsCount', item.settingsCount)}
    </Link>
  )
}

type RemoveProps = { tenant: Tenant; item: TenantApplication; onClose: () => void }

function RemoveApplication({ tenant, item, onClose }: RemoveProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(accessDeleteDocument)
  const { application, row, settingsCount } = item
  if (row === null) return null
  return (
    <DeleteDialog
      title={t('tenants.removeTitle', application.name, tenant.name)}
      isOpen
      confirmation={(settingsCount ?? 0) > 0 ? application.slug : null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: row.id, revision: row.revision }, () => {
          showToast(t('tenants.removed', application.name, tenant.name))
          onClose()
        })
      }
    >
      <p>
        {(settingsCount ?? 0) > 0
          ? t('tenants.removeWithSettings', settingsCount ?? 0)
          : t('tenants.removeWithoutSettings')}
      </p>
    </DeleteDialog>
  )
}
