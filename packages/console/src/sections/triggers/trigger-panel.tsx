// The details of a trigger beside the list.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useInProject } from '../../app/in-project.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useMay, useProject } from '../../app/project.tsx'
import { triggerDetailDocument } from '../../generated/documents.ts'
import { EnvironmentBadge, Status } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Facts, Id, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { splitZone } from './cron-fields.ts'
import { NextRuns } from './next-runs.tsx'
import { describeOutcome } from './run-words.ts'
import { ScheduleWords } from './schedule-parts.tsx'
import { TriggerActions } from './trigger-actions.tsx'
import { EnabledStatus } from './trigger-columns.tsx'
import { TriggerDialog } from './trigger-dialog.tsx'
import type { Trigger } from './trigger-types.ts'
import { openRun, openRuns } from './run-address.ts'
import { useNewestRuns } from './use-runs.ts'
import { listNewestRuns } from './use-trigger-states.ts'

type TriggerPanelProps = { id: string; ids: readonly string[]; list: ListSearch }

/** Reads a trigger. A trigger of another project is not found. */
export function useTrigger(id: string) {
  const { data, error: failure, refetch } = useRead(triggerDetailDocument, { id })
  const { item, error } = useInProject(data?.trigger, data?.trigger.application.project.id, failure)
  return { trigger: item, error, refetch: () => void refetch() }
}

export function TriggerPanel({ id, ids, list }: TriggerPanelProps): ReactNode {
  const t = useText()
  const { trigger, error, refetch } = useTrigger(id)
  return (
    <SidePanel
      title={trigger?.name ?? t('triggers.one')}
      subtitle={
        trigger !== undefined && (
          <>
            <EnabledStatus isEnabled={trigger.enabled} />
            <span aria-hidden="true">·</span>
            <Id value={trigger.id} />
          </>
        )
      }
      actions={<ItemActions ids={ids} openId={id} onOpen={(next) => list.setOpen(next)} />}
      foot={
        trigger !== undefined && (
          <TriggerActions
            trigger={trigger}
            onRun={(runId) => openRun(list, id, runId)}
            onDeleted={() => list.setOpen(null)}
          />
        )
      }
      onClose={() => list.setOpen(null)}
    >
      {trigger !== undefined ? (
        <Summary trigger={trigger} list={list} />
      ) : error === null ? (
        <Skeleton rows={10} />
      ) : (
        <FailureState failure={describeFailure(error)} onRetry={refetch} />
      )}
    </SidePanel>
  )
}

function Summary({ trigger, list }: { trigger: Trigger; list: ListSearch }): ReactNode {
  const t = useText()
  const { enabled, nextRuns, cronExpression } = trigger
  return (
    <>
      {!enabled && (
        <div className="trigger-hint">
          <Note tone="warn">{t('triggers.isDisabled')}</Note>
        </div>
      )}
      <Schedule trigger={trigger} />
      <LastRuns trigger={trigger} list={list} />
      <Section title={t('triggers.nextRuns')} note={enabled ? undefined : t('triggers.nextRunsIfEnabled')}>
        <NextRuns times={nextRuns} zone={splitZone(cronExpression).zone} />
      </Section>
      <Details trigger={trigger} />
    </>
  )
}

function Schedule({ trigger }: { trigger: Trigger }): ReactNode {
  const t = useText()
  const canEdit = useMay('triggers.edit')
  const [isEditing, setEditing] = useState(false)
  const close = (): void => setEditing(false)
  return (
    <Section
      title={t('triggers.schedule')}
      action={
        canEdit && (
          <Button variant="link" action="triggers.edit" onPress={() => setEditing(true)}>
            {t('triggers.edit')}
          </Button>
        )
      }
    >
      <ScheduleWords expression={trigger.cronExpression} />
      <Facts items={[{ label: t('triggers.expression'), value: <code>{trigger.cronExpression}</code> }]} />
      {isEditing && <TriggerDialog trigger={trigger} onClose={close} onSaved={close} />}
    </Section>
  )
}

/** The newest run of each environment. */
function LastRuns({ trigger, list }: { trigger: Trigger; list: ListSearch }): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const { runs, error, refetch } = useNewestRuns(trigger.id)
  const shown = listNewestRuns(runs ?? [], environments)
  return (
    <Section
      title={t('triggers.lastRuns')}
      action={
        <Button variant="link" onPress={() => openRuns(list, trigger.id)}>
          {t('triggers.allRuns')}
        </Button>
      }
    >
      {runs === undefined &&
        (error === null ? (
          <Skeleton rows={2} />
        ) : (
          <FailureState failure={describeFailure(error)} onRetry={refetch} />
        ))}
      {runs?.length === 0 && <SectionText>{t('triggers.noRunsHint')}</SectionText>}
      {shown.map(({ id, environment, outcome, scheduledAt }) => {
        const { kind, word } = describeOutcome(outcome, t)
        return (
          <SectionRow key={id} end={<Time at={scheduledAt} />}>
            <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
            <Button variant="link" onPress={() => openRun(list, trigger.id, id)}>
              <Status kind={kind}>{word}</Status>
            </Button>
          </SectionRow>
        )
      })}
    </Section>
  )
}

function Details({ trigger }: { trigger: Trigger }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const { application, runKey, description, createdAt, updatedAt } = trigger
  return (
    <Section title={t('triggers.details')}>
      <Facts
        items={[
          {
            label: t('triggers.application'),
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
          {
            label: t('triggers.runKey'),
            value:
              runKey === '' ? <span className="muted">{t('triggers.noRunKey')}</span> : <code>{runKey}</code>,
          },
          ...(description === '' ? [] : [{ label: t('triggers.description'), value: description }]),
          { label: t('triggers.created'), value: <Time at={createdAt} /> },
          { label: t('triggers.changed'), value: <Time at={updatedAt} /> },
        ]}
      />
    </Section>
  )
}
