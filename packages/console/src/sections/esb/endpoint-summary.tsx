// Summarizes an endpoint: how it is called, where its calls go, and what happens to their bodies.
import './esb.css'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCan, useProject } from '../../app/project.tsx'
import { hasSection } from '../../app/sections.ts'
import { Note } from '../../kit/note.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { Facts, Id, Time } from '../../kit/values.tsx'
import { VisibleText } from '../../kit/visible-text.tsx'
import { useText } from '../../texts/language.tsx'
import { LogLevel } from './endpoint-columns.tsx'
import { type Endpoint, toCallPath } from './endpoint-types.ts'
import { TemplateLink } from './template-link.tsx'

type SummaryProps = { endpoint: Endpoint }

export function EndpointSummary({ endpoint }: SummaryProps): ReactNode {
  const t = useText()
  const { description, enabled, url } = endpoint
  return (
    <>
      {description !== '' && <p className="esb-description">{description}</p>}
      {!enabled && <Note tone="info">{t('esb.isDisabled')}</Note>}
      {(url === null || url === '') && <Note tone="warn">{t('esb.isWithoutTarget')}</Note>}
      <Calls endpoint={endpoint} />
      <Template endpoint={endpoint} />
      <Section title={t('esb.history')}>
        <SectionRow end={<Time at={endpoint.createdAt} />}>{t('esb.created')}</SectionRow>
        <SectionRow end={<Time at={endpoint.updatedAt} />}>{t('esb.changed')}</SectionRow>
      </Section>
    </>
  )
}

function Calls({ endpoint }: SummaryProps): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const { application, url, authType, authUsername, logLevel } = endpoint
  const canReadCalls = useCan('ESB_AUDIT_READ') && hasSection('calls')
  return (
    <Section
      title={t('esb.calls')}
      {...(canReadCalls
        ? {
            action: (
              <Link
                to={`/p/${slug}/calls` as '/'}
                search={{ application: application.id, endpoint: endpoint.id } as never}
              >
                {t('esb.callLog')}
              </Link>
            ),
          }
        : {})}
    >
      <Facts
        items={[
          {
            label: t('esb.callPath'),
            value: (
              <span className="esb-id">
                <Id value={toCallPath(endpoint)} isWhole />
              </span>
            ),
          },
          {
            label: t('esb.application'),
            value: (
              <Link
                to="/p/$project/applications"
                params={{ project: slug }}
                search={{ open: application.id } as never}
              >
                {application.name}
              </Link>
            ),
          },
          ...(url === null || url === ''
            ? []
            : [{ label: t('esb.target'), value: <code className="esb-address">{url}</code> }]),
          {
            label: t('esb.authentication'),
            value: (
              <>
                {t(`esb.auth.${authType}`)}
                {authType === 'Basic' && (
                  <>
                    {', '}
                    <code>
                      <VisibleText text={authUsername} />
                    </code>
                  </>
                )}
              </>
            ),
          },
          {
            label: t('esb.logLevel'),
            value: (
              <>
                <LogLevel level={logLevel} /> {t(`esb.logLevelText.${logLevel}`)}
              </>
            ),
          },
        ]}
      />
    </Section>
  )
}

function Template({ endpoint }: SummaryProps): ReactNode {
  const t = useText()
  const { transformationTemplate: template, inputMessageType, outputMessageType } = endpoint
  const isEmpty = template === ''
  const lines = template.split('\n').length
  return (
    <Section title={t('esb.template')} action={<TemplateLink id={endpoint.id} isEmpty={isEmpty} />}>
      {isEmpty ? (
        <SectionText>{t('esb.noTemplate')}</SectionText>
      ) : (
        <SectionRow end={t('esb.lines', lines)}>
          {t('esb.messages', inputMessageType ?? t('esb.anyMessage'), outputMessageType ?? 'JSON')}
        </SectionRow>
      )}
    </Section>
  )
}
