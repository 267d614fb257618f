// Summarizes a tenant: its applications, its members and its own settings.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { listOwnSettings } from '../../app/own-settings.ts'
import { useProject } from '../../app/project.tsx'
import { SettingRow } from '../../app/setting-row.tsx'
import { tenantMemberPageDocument, tenantSettingsDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Avatar } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { ApplicationRow } from './tenant-applications.tsx'
import type { Tenant } from './tenant-types.ts'
import { useTenantRows } from './use-tenant-rows.ts'

type SummaryProps = { tenant: Tenant; onTab: (tab: string) => void }

export const TenantSummary = ({ tenant, onTab }: SummaryProps): ReactNode => (
  <>
    {tenant.myPermissions.includes('TENANT2APPLICATION_READ') && (
      <ApplicationsPart tenant={tenant} onTab={onTab} />
    )}
    {tenant.myPermissions.includes('TENANT_MEMBER_READ') && <MembersPart tenant={tenant} onTab={onTab} />}
    {tenant.myPermissions.includes('SETTINGS_READ') && <SettingsPart tenant={tenant} onTab={onTab} />}
  </>
)

const shownApplications = 8
const shownMembers = 3
const shownSettings = 5

function ApplicationsPart({ tenant, onTab }: SummaryProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { slug } = useProject()
  const { items, error, refetch } = useTenantRows(tenant)
  const enabled = items?.filter(({ row }) => row?.enabled === true).length ?? 0
  return (
    <Section
      title={t('section.applications')}
      note={items !== undefined && t('tenants.ofOn', number(enabled), number(items.length))}
      action={
        <Link to="/p/$project/access" params={{ project: slug }} search={{ q: tenant.name } as never}>
          {t('section.access')}
        </Link>
      }
    >
      {items === undefined ? (
        <Waiting error={error} onRetry={refetch} />
      ) : items.length === 0 ? (
        <SectionText>{t('tenants.noApplications')}</SectionText>
      ) : (
        items
          .slice(0, shownApplications)
          .map((item) => <ApplicationRow key={item.application.id} tenant={tenant} item={item} />)
      )}
      <More count={(items?.length ?? 0) - shownApplications} onPress={() => onTab('applications')} />
    </Section>
  )
}

function MembersPart({ tenant, onTab }: SummaryProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { data, error, refetch } = useRead(tenantMemberPageDocument, {
    tenant: tenant.id,
    pagination: { limit: 10, offset: 0 },
  })
  const members = data?.user2tenantsConnection
  return (
    <Section
      title={t('section.members')}
      note={members !== undefined && number(members.totalCount)}
      action={
        may(tenant, 'tenants.addMember') && (
          <Button variant="link" action="tenants.addMember" onPress={() => onTab('members')}>
            {t('tenants.addMember')}
          </Button>
        )
      }
    >
      {members === undefined ? (
        <Waiting error={error} onRetry={() => void refetch()} />
      ) : members.nodes.length === 0 ? (
        <SectionText>{t('tenants.noMembers')}</SectionText>
      ) : (
        members.nodes.slice(0, shownMembers).map(({ id, roleName, user }) => (
          <SectionRow key={id} end={<Badge tone="outline">{roleName}</Badge>}>
            <Avatar name={user.externalName} />
            <span className="truncate">{user.externalName}</span>
          </SectionRow>
        ))
      )}
      <More count={(members?.totalCount ?? 0) - shownMembers} onPress={() => onTab('members')} />
    </Section>
  )
}

function SettingsPart({ tenant, onTab }: SummaryProps): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(tenantSettingsDocument, { id: tenant.id }, { isSensitive: true })
  const settings = data && listOwnSettings(data.settings)
  return (
    <Section
      title={t('tenants.ownSettings')}
      note={settings !== undefined && t('tenants.keys', settings.length)}
      action={<SettingsLink tenant={tenant} />}
    >
      {settings === undefined ? (
        <Waiting error={error} onRetry={() => void refetch()} />
      ) : settings.length === 0 ? (
        <SectionText>{t('tenants.noSettings')}</SectionText>
      ) : (
        settings.slice(0, shownSettings).map((setting) => <SettingRow key={setting.key} setting={setting} />)
      )}
      <More count={(settings?.length ?? 0) - shownSettings} onPress={() => onTab('settings')} />
    </Section>
  )
}

/** Opens the settings page for this tenant, where all layers are shown side by side. */
export function SettingsLink({ tenant }: { tenant: Pick<Tenant, 'id'> }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  return (
    <Link to="/p/$project/settings" params={{ project: slug }} search={{ tenant: tenant.id } as never}>
      {t('tenants.openSettings')}
    </Link>
  )
}

const Waiting = ({ error, onRetry }: { error: Error | null; onRetry: () => void }): ReactNode =>
  error === null ? <Skeleton rows={3} /> : <FailureState failure={describeFailure(error)} onRetry={onRetry} />

function More({ count, onPress }: { count: number; onPress: () => void }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  return count <= 0 ? null : (
    <Button variant="link" onPress={onPress}>
      {t('app.more', number(count))}
    </Button>
  )
}
