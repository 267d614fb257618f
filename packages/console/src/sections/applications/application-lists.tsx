// Read-only lists of an application's objects. Other pages change them.
import './applications.css'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useProject } from '../../app/project.tsx'
import {
  applicationBackendsDocument,
  applicationEndpointsDocument,
  applicationMemberPageDocument,
  applicationTenantsDocument,
  applicationTriggersDocument,
} from '../../generated/documents.ts'
import { EnvironmentBadge, Status } from '../../kit/badge.tsx'
import { SectionRow } from '../../kit/section.tsx'
import { Avatar, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { RoleBadges } from '../members/group-badge.tsx'
import { PagedList } from './paged-list.tsx'

type ListProps = { id: string }

const Lines = ({ first, second, isMono = true }: { first: ReactNode; second: string; isMono?: boolean }) => (
  <div className="lines">
    <span className="truncate">{first}</span>
    <span className={isMono ? 'truncate lines-second mono' : 'truncate lines-second'} title={second}>
      {second}
    </span>
  </div>
)

function OnOff({ isOn }: { isOn: boolean }): ReactNode {
  const t = useText()
  return <Status kind={isOn ? 'ok' : 'off'}>{isOn ? t('applications.on') : t('applications.off')}</Status>
}

export function ApplicationTenants({ id }: ListProps): ReactNode {
  const t = useText()
  const { slug } = useProject()
  return (
    <PagedList
      title={t('section.tenants')}
      empty={t('applications.noTenants')}
      document={applicationTenantsDocument}
      applicationId={id}
      select={(result) => result.tenant2ApplicationsConnection}
      renderRow={({ id: rowId, enabled, tenant }) => (
        <SectionRow key={rowId} isTall end={<OnOff isOn={enabled} />}>
          <Lines
            first={
              <Link to="/p/$project/tenants" params={{ project: slug }} search={{ open: tenant.id } as never}>
                {tenant.name}
              </Link>
            }
            second={tenant.slug}
          />
        </SectionRow>
      )}
    />
  )
}

export function ApplicationMembers({ id }: ListProps): ReactNode {
  const t = useText()
  return (
    <PagedList
      title={t('section.members')}
      empty={t('applications.noMembers')}
      document={applicationMemberPageDocument}
      applicationId={id}
      select={(result) => result.user2applicationsConnection}
      renderRow={(member) => (
        <SectionRow key={member.id} isTall end={<RoleBadges membership={member} />}>
          <Avatar name={member.user.externalName} />
          <Lines first={member.user.externalName} second={member.user.externalEmail} isMono={false} />
        </SectionRow>
      )}
    />
  )
}

export function ApplicationBackends({ id }: ListProps): ReactNode {
  const t = useText()
  return (
    <PagedList
      title={t('applications.backends')}
      empty={t('applications.noBackendsHint')}
      document={applicationBackendsDocument}
      applicationId={id}
      select={(result) => result.backendsConnection}
      renderRow={({ id: rowId, version, callbackOrigin, lastHeartbeat, isLive, environment }) => (
        <SectionRow
          key={rowId}
          isTall
          end={
            <>
              <Status kind={isLive ? 'ok' : 'danger'}>
                {isLive ? t('applications.isLive') : t('applications.isNotLive')}
              </Status>
              <Time at={lastHeartbeat} />
            </>
          }
        >
          <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
          <Lines first={version === '' ? t('applications.noVersion') : version} second={callbackOrigin} />
        </SectionRow>
      )}
    />
  )
}

export function ApplicationEndpoints({ id }: ListProps): ReactNode {
  const t = useText()
  const { slug } = useProject()
  return (
    <>
      <PagedList
        title={t('applications.endpoints')}
        empty={t('applications.noEndpoints')}
        document={applicationEndpointsDocument}
        applicationId={id}
        select={(result) => result.endpointsConnection}
        renderRow={({ id: rowId, name, consumeURL, enabled }) => (
          <SectionRow key={rowId} isTall end={<OnOff isOn={enabled} />}>
            <Lines first={name} second={consumeURL} />
          </SectionRow>
        )}
      />
      <PagedList
        title={t('applications.triggers')}
        empty={t('applications.noTriggers')}
        document={applicationTriggersDocument}
        applicationId={id}
        select={(result) => result.triggersConnection}
        renderRow={({ id: rowId, name, cronExpression, enabled }) => (
          <SectionRow key={rowId} isTall end={<OnOff isOn={enabled} />}>
            <Lines
              first={
                <Link to="/p/$project/triggers" params={{ project: slug }} search={{ open: rowId } as never}>
                  {name}
                </Link>
              }
              second={cronExpression}
            />
          </SectionRow>
        )}
      />
    </>
  )
}
