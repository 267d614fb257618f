// The switch of one application in a tenant.
import { type ReactNode } from 'react'
import { may } from '../../app/actions.ts'
import { useRowSwitch } from '../../app/use-row-switch.ts'
import {
  accessCreateDocument,
  accessDeleteDocument,
  accessUpdateDocument,
} from '../../generated/documents.ts'
import { Switch } from '../../kit/form.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Tenant } from './tenant-types.ts'
import type { TenantApplication } from './use-tenant-rows.ts'

type ApplicationSwitchProps = { tenant: Tenant; item: TenantApplication }

export function ApplicationSwitch({ tenant, item }: ApplicationSwitchProps): ReactNode {
  const t = useText()
  const { date } = useFormat()
  const { application, row } = item
  const { isOn, isPending, set } = useRowSwitch({
    row,
    input: { tenantId: tenant.id, applicationId: application.id },
    create: accessCreateDocument,
    update: accessUpdateDocument,
    remove: accessDeleteDocument,
    describe: (isEnabled) =>
      isEnabled
        ? t('tenants.enabled', application.name, tenant.name)
        : t('tenants.disabled', application.name, tenant.name),
  })
  return (
    <Switch
      isSelected={isOn}
      isDisabled={!may(tenant, 'tenants.switchApplication')}
      action="tenants.switchApplication"
      // A switch that is disabled while it saves would lose the focus.
      onChange={(next) => {
        if (!isPending) set(next)
      }}
      label={
        <>
          <bdi>{application.name}</bdi>
          {row !== null && !row.enabled && !isOn && (
            <span className="muted switch-note">{t('tenants.offSince', date(row.updatedAt))}</span>
          )}
        </>
      }
    />
  )
}
