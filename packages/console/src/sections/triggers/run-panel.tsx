// The details of a run beside the list of runs: the reason first, then its attempts and the response.
import type { ReactNode } from 'react'
import { GraphqlError } from '@manager/client'
import { describeFailure } from '../../api/failures.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import { useMay } from '../../app/project.tsx'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Note, type NoteTone } from '../../kit/note.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { shortenId } from '../../kit/short-id.ts'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { type Fact, Facts, Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useLanguage, useText } from '../../texts/language.tsx'
import { RetryButton, isRetryable } from './retry-button.tsx'
import { OutcomeStatus } from './run-columns.tsx'
import { formatDuration, measureRun } from './run-duration.ts'
import { describeReason } from './run-words.ts'
import type { Run, Trigger } from './trigger-types.ts'
import { usePersonName, useRun } from './use-runs.ts'

type RunPanelProps = {
  runId: string
  trigger: Trigger
  /** Runs that the page has read. */
  known: readonly Run[]
  ids: readonly string[]
  onOpen: (runId: string | null) => void
}

const missing = new GraphqlError([{ message: 'the run does not exist', extensions: { code: 'not_found' } }])

export function RunPanel({ runId, trigger, known, ids, onOpen }: RunPanelProps): ReactNode {
  const t = useText()
  const { exact } = useFormat()
  const canRetry = useMay('triggers.retry')
  const { run, isMissing, error: failure, refetch } = useRun(trigger.id, runId, known)
  const error = isMissing ? missing : failure
  return (
    <SidePanel
      title={run === undefined ? t('triggers.oneRun') : exact(run.scheduledAt)}
      {...(run === undefined ? {} : { label: t('triggers.runTitle', exact(run.scheduledAt)) })}
      subtitle={
        run !== undefined && (
          <>
            <EnvironmentBadge name={run.environment.name} isProtected={run.environment.protected} />
            <OutcomeStatus outcome={run.outcome} />
            <Id value={run.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={runId} onOpen={onOpen} />}
      foot={
        run !== undefined &&
        canRetry &&
        isRetryable(run) && <RetryButton run={run} name={trigger.name} onStarted={onOpen} />
      }
      onClose={() => onOpen(null)}
    >
      {run !== undefined ? (
        <Details run={run} onOpen={onOpen} />
      ) : error === null ? (
        <Skeleton rows={8} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={refetch} />
      )}
    </SidePanel>
  )
}

const tones: Readonly<Record<string, NoteTone>> = { failed: 'danger', missed: 'warn' }

function Details({ run, onOpen }: { run: Run; onOpen: (runId: string) => void }): ReactNode {
  const t = useText()
  const reason = describeReason(run, t)
  return (
    <>
      {reason !== null && (
        <div className="trigger-hint">
          <Note tone={tones[run.outcome] ?? 'info'}>{reason}</Note>
        </div>
      )}
      <Attempts run={run} />
      <Origin run={run} onOpen={onOpen} />
    </>
  )
}

function Attempts({ run }: { run: Run }): ReactNode {
  const t = useText()
  const { locale } = useLanguage()
  const { exact, number } = useFormat()
  const { attempts, executedAt, finishedAt, responseStatus, outcome } = run
  const duration = measureRun(run)
  const isPending = outcome === 'pending'
  const response =
    responseStatus !== null
      ? t('triggers.responseStatus', String(responseStatus))
      : isPending
        ? t('triggers.noResponseYet')
        : attempts === 0
          ? t('triggers.notCalled')
          : t('triggers.noResponse')
  const times: readonly Fact[] =
    executedAt === null
      ? []
      : [
          { label: t('triggers.startedAt'), value: exact(executedAt) },
          {
            label: t('triggers.endedAt'),
            value: finishedAt === null ? t('triggers.stillRunning') : exact(finishedAt),
          },
        ]
  return (
    <Section title={t('triggers.attempts')}>
      <Facts
        items={[
          { label: t('triggers.attempts'), value: number(attempts) },
          { label: t('triggers.response'), value: response },
          ...times,
          ...(duration === null
            ? []
            : [{ label: t('triggers.took'), value: formatDuration(duration, locale) }]),
        ]}
      />
      {isPending && <SectionText>{t('triggers.retriesLeft')}</SectionText>}
      {attempts > 1 && <SectionText>{t('triggers.onlyLast')}</SectionText>}
    </Section>
  )
}

/** Why the run exists: the schedule, a person, or a retry. */
function Origin({ run, onOpen }: { run: Run; onOpen: (runId: string) => void }): ReactNode {
  const t = useText()
  const { exact } = useFormat()
  const { isManual, requestedBy, retryOf, scheduledAt } = run
  const person = usePersonName(requestedBy)
  return (
    <Section title={t('triggers.origin')}>
      <Facts
        items={[
          {
            label: t('triggers.startedBy'),
            value: isManual ? (person ?? shortenId(requestedBy ?? '')) : t('triggers.bySchedule'),
          },
          { label: t('triggers.plannedAt'), value: exact(scheduledAt) },
          ...(retryOf === null
            ? []
            : [
                {
                  label: t('triggers.retryOf'),
                  value: (
                    <Button variant="link" onPress={() => onOpen(retryOf)}>
                      {t('triggers.previousRun')}
                    </Button>
                  ),
                },
              ]),
        ]}
      />
    </Section>
  )
}
