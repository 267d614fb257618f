// The applications that have their own settings in the tenant.
import type { ReactNode } from 'react'
import { Section, SectionRow } from '../../kit/section.tsx'
import { useText } from '../../texts/language.tsx'
import { OwnSettings } from './tenant-applications.tsx'
import type { Tenant } from './tenant-types.ts'
import { useTenantRows } from './use-tenant-rows.ts'

export function TenantApplicationSettings({ tenant }: { tenant: Tenant }): ReactNode {
  const t = useText()
  const items = useTenantRows(tenant).items?.filter(({ settingsCount }) => (settingsCount ?? 0) > 0) ?? []
  if (items.length === 0) return null
  return (
    <Section title={t('tenants.applicationSettings')}>
      {items.map((item) => (
        <SectionRow key={item.application.id} end={<OwnSettings tenant={tenant} item={item} />}>
          <span className="truncate">{item.application.name}</span>
        </SectionRow>
      ))}
    </Section>
  )
}
