// Summarizes a deployment: the state of its backends, a wake that has not ended, its specification, and scale to zero.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useProject } from '../../app/project.tsx'
import { Status } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Facts, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { Age } from './age.tsx'
import { BackendStatus, Versions } from './deployment-columns.tsx'
import { summarizeBackends } from './deployment-rows.ts'
import type { Deployment, Specification } from './deployment-types.ts'
import { useBackendState } from './use-backends.ts'
import type { Readiness } from './use-readiness.ts'
import { WakeProgress } from './wake-progress.tsx'

type SummaryProps = {
  deployment: Deployment
  readiness: Readiness | undefined
  onTab: (tab: string) => void
}

export const DeploymentSummary = ({ deployment, readiness, onTab }: SummaryProps): ReactNode => (
  <>
    <WakeProgress deployment={deployment} readiness={readiness} />
    <BackendState deployment={deployment} onTab={onTab} />
    <SpecificationFacts specification={deployment.specification} />
    {deployment.specification !== null && (
      <ScaleToZero deployment={deployment} specification={deployment.specification} />
    )}
  </>
)

function BackendState({ deployment, onTab }: Pick<SummaryProps, 'deployment' | 'onTab'>): ReactNode {
  const t = useText()
  const canSleep = deployment.specification?.scaleToZero === true
  const { data, error, refetch } = useBackendState(deployment)
  if (data === undefined)
    return (
      <Section title={t('deployments.state')}>
        {error === null ? (
          <Skeleton rows={3} />
        ) : (
          <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
        )}
      </Section>
    )
  const summary = summarizeBackends(data.backendsConnection, canSleep)
  return (
    <Section
      title={t('deployments.state')}
      action={
        summary.total > 0 && (
          <Button variant="link" onPress={() => onTab('backends')}>
            {t('deployments.showAll')}
          </Button>
        )
      }
    >
      <Facts
        items={[
          {
            label: t('deployments.backends'),
            value: <BackendStatus id={deployment.id} summary={summary} />,
          },
          ...(summary.oldestHeartbeat === null
            ? []
            : [
                { label: t('deployments.lastHeartbeat'), value: <Age at={summary.oldestHeartbeat} /> },
                { label: t('deployments.version'), value: <Versions versions={summary.versions} /> },
              ]),
        ]}
      />
      {summary.total === 0 && (
        <SectionText>{canSleep ? t('deployments.sleepingHint') : t('deployments.noBackends')}</SectionText>
      )}
    </Section>
  )
}

function SpecificationFacts({ specification }: { specification: Specification | null }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  if (specification === null)
    return (
      <Section title={t('deployments.specification')}>
        <SectionText>{t('deployments.noSpecificationHint')}</SectionText>
      </Section>
    )
  const { workload, image, version, minReplicas, maxReplicas, port, healthPath, readinessTimeoutSeconds } =
    specification
  return (
    <Section title={t('deployments.specification')}>
      <Facts
        items={[
          { label: t('deployments.workload'), value: <code>{workload}</code> },
          { label: t('deployments.image'), value: <code>{image}</code> },
          {
            label: t('deployments.version'),
            value: version === '' ? <span className="muted">{t('deployments.empty.version')}</span> : version,
          },
          { label: t('deployments.replicas'), value: `${number(minReplicas)}–${number(maxReplicas)}` },
          { label: t('deployments.port'), value: String(port) },
          { label: t('deployments.healthPath'), value: <code>{healthPath}</code> },
          {
            label: t('deployments.readinessTimeout'),
            value: t('deployments.seconds', number(readinessTimeoutSeconds)),
          },
          { label: t('deployments.created'), value: <Time at={specification.createdAt} /> },
          { label: t('deployments.changed'), value: <Time at={specification.updatedAt} /> },
        ]}
      />
    </Section>
  )
}

type ScaleToZeroProps = { deployment: Deployment; specification: Specification }

/** The flag is read-only in the console, so this names the command that changes it. */
function ScaleToZero({ deployment, specification }: ScaleToZeroProps): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const { application, environment } = deployment
  const { scaleToZero, workload } = specification
  return (
    <Section
      title={t('deployments.scaleToZero')}
      action={
        <Status kind={scaleToZero ? 'ok' : 'off'}>
          {scaleToZero ? t('deployments.on') : t('deployments.off')}
        </Status>
      }
    >
      <p className="scale-to-zero">
        {scaleToZero ? t('deployments.scaleToZeroOn') : t('deployments.scaleToZeroOff')}{' '}
        {t('deployments.onlyOperator')}
      </p>
      <code className="scale-to-zero-command">
        {`manager deployment scale-to-zero ${slug}/${application.slug} ${environment.name} ${scaleToZero ? 'off' : 'on'} --workload ${workload}`}
      </code>
    </Section>
  )
}
