// Summarizes an application: what it is, how many objects depend on it, and whether its backends are live in each
// environment.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useCan, useProject } from '../../app/project.tsx'
import { applicationBackendsDocument } from '../../generated/documents.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Section, SectionRow } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { LiveBackends } from './application-columns.tsx'
import { useApplicationCounts } from './application-counts.ts'
import type { Application } from './application-types.ts'

type SummaryProps = { application: Application; onTab: (tab: string) => void }

export function ApplicationSummary({ application, onTab }: SummaryProps): ReactNode {
  const t = useText()
  return (
    <>
      {application.description !== '' && <p className="application-description">{application.description}</p>}
      <Use application={application} onTab={onTab} />
      {useCan('BACKEND_READ') && <Backends id={application.id} onTab={onTab} />}
      <Section title={t('applications.history')}>
        <SectionRow end={<Time at={application.createdAt} />}>{t('applications.created')}</SectionRow>
        <SectionRow end={<Time at={application.updatedAt} />}>{t('applications.changed')}</SectionRow>
      </Section>
    </>
  )
}

function Use({ application, onTab }: SummaryProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { slug } = useProject()
  const counts = useApplicationCounts([application]).data?.get(application.id)
  if (counts === undefined) return null
  const rows = [
    ['tenants', t('applications.tenantsOn'), counts.tenants.totalCount],
    ['endpoints', t('applications.endpoints'), counts.endpoints.totalCount],
    ['endpoints', t('applications.triggers'), counts.triggers.totalCount],
  ] as const
  return (
    <Section
      title={t('applications.use')}
      action={
        <Link
          to="/p/$project/access"
          params={{ project: slug }}
          search={{ application: application.id } as never}
        >
          {t('section.access')}
        </Link>
      }
    >
      {rows.map(([tab, title, count]) => (
        <SectionRow
          key={title}
          end={
            <Button variant="link" onPress={() => onTab(tab)}>
              {number(count)}
            </Button>
          }
        >
          {title}
        </SectionRow>
      ))}
    </Section>
  )
}

function Backends({ id, onTab }: { id: string; onTab: (tab: string) => void }): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const { data, error, refetch } = useRead(applicationBackendsDocument, {
    application: id,
    pagination: { limit: 100, offset: 0 },
  })
  const backends = data?.backendsConnection.nodes
  return (
    <Section
      title={t('applications.backends')}
      action={
        <Button variant="link" onPress={() => onTab('backends')}>
          {t('applications.allBackends')}
        </Button>
      }
    >
      {backends === undefined ? (
        error === null ? (
          <Skeleton rows={3} />
        ) : (
          <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
        )
      ) : (
        environments
          .toSorted((a, b) => a.sortOrder - b.sortOrder)
          .map((environment) => {
            const own = backends.filter((backend) => backend.environment.id === environment.id)
            return (
              <SectionRow
                key={environment.id}
                end={<LiveBackends live={own.filter(({ isLive }) => isLive).length} total={own.length} />}
              >
                <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
              </SectionRow>
            )
          })
      )}
    </Section>
  )
}
