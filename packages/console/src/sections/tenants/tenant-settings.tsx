// The settings that the tenant sets itself. They are edited on the settings page, next to the other layers.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { AuditLink } from '../../app/audit-link.tsx'
import { listOwnSettings } from '../../app/own-settings.ts'
import { SettingRow } from '../../app/setting-row.tsx'
import { tenantSettingsDocument } from '../../generated/documents.ts'
import { Section, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import type { Tenant } from './tenant-types.ts'
import { SettingsLink } from './tenant-summary.tsx'
import { TenantApplicationSettings } from './tenant-application-settings.tsx'

export function TenantSettings({ tenant }: { tenant: Tenant }): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(tenantSettingsDocument, { id: tenant.id }, { isSensitive: true })
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  const settings = listOwnSettings(data.settings)
  return (
    <>
      <Section
        title={t('tenants.ownSettings')}
        note={t('tenants.keys', settings.length)}
        action={
          <span className="section-links">
            <AuditLink entity="settings" id={data.settings.id} label={t('app.whoChanged')} />
            <SettingsLink tenant={tenant} />
          </span>
        }
      >
        {settings.length === 0 && <SectionText>{t('tenants.noSettings')}</SectionText>}
        {settings.map((setting) => (
          <SettingRow key={setting.key} setting={setting} />
        ))}
      </Section>
      <TenantApplicationSettings tenant={tenant} />
    </>
  )
}
