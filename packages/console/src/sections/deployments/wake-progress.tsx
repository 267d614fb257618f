// The progress of a wake: the request to the orchestrator, the start of a backend, and its registration.
import type { ReactNode } from 'react'
import { useChangeText } from '../../app/change-failure.tsx'
import { useSeconds } from '../../app/seconds.ts'
import { Button } from '../../kit/button.tsx'
import { Icon, type IconName, type Tone } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { Section } from '../../kit/section.tsx'
import { Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Deployment } from './deployment-types.ts'
import type { Readiness } from './use-readiness.ts'
import { type Wake, isUnderway } from './wake-list.ts'
import { dismissWake, useWake } from './wakes.ts'

type StepState = 'done' | 'active' | 'open' | 'failed' | 'unknown'

const icons: Record<StepState, readonly [IconName, Tone]> = {
  done: ['ok', 'ok'],
  active: ['clock', 'info'],
  open: ['minus', 'muted'],
  failed: ['danger', 'danger'],
  unknown: ['warning', 'warn'],
}

type StepProps = { state: StepState; text: string; note?: ReactNode }

const Step = ({ state, text, note }: StepProps): ReactNode => (
  <li className="wake-step" data-state={state} aria-current={state === 'active' ? 'step' : undefined}>
    <Icon name={icons[state][0]} tone={icons[state][1]} />
    <span className="wake-step-text">
      {text} {note !== undefined && <span className="muted">{note}</span>}
    </span>
  </li>
)

type WakeProgressProps = { deployment: Deployment; readiness: Readiness | undefined }

/** Shows the wake that this tab has started, if there is one. */
export function WakeProgress({ deployment, readiness }: WakeProgressProps): ReactNode {
  const t = useText()
  const wake = useWake(deployment.id)
  if (wake === null) return null
  return (
    <Section
      title={t('deployments.wakeTitle')}
      action={
        wake.phase !== 'asking' && (
          <Button variant="link" onPress={() => dismissWake(deployment.id)}>
            {t('deployments.dismiss')}
          </Button>
        )
      }
    >
      {/* A screen reader announces each step when it changes, but not the seconds. */}
      <ol className="wake-steps">
        <AskStep wake={wake} />
        <StartStep wake={wake} readiness={readiness} />
        <Step state={wake.phase === 'ready' ? 'done' : 'open'} text={t('deployments.readyStep')} />
      </ol>
      <span className="visually-hidden" role="status">
        {wake.phase === 'ready' && t('deployments.readyStep')}
      </span>
      <WakeFailure wake={wake} />
      {isUnderway(wake) && <Waiting wake={wake} deployment={deployment} />}
    </Section>
  )
}

function AskStep({ wake: { phase, minReplicas, isAlreadyAwake } }: { wake: Wake }): ReactNode {
  const t = useText()
  if (minReplicas !== null) {
    const replicas = t('deployments.replicaCount', minReplicas)
    return (
      <Step
        state="done"
        text={isAlreadyAwake ? t('deployments.alreadyAwake', replicas) : t('deployments.asked', replicas)}
      />
    )
  }
  const states = {
    asking: 'active',
    failed: 'failed',
    unknown: 'unknown',
    waiting: 'done',
    ready: 'done',
  } as const
  return <Step state={states[phase]} text={t('deployments.askStep')} />
}

function StartStep({ wake, readiness }: { wake: Wake; readiness: Readiness | undefined }): ReactNode {
  const t = useText()
  if (wake.phase === 'ready')
    return <Step state="done" text={t('deployments.started', Math.max(1, readiness?.backends ?? 1))} />
  const isActive = wake.phase === 'waiting' || wake.phase === 'unknown'
  return (
    <Step
      state={isActive ? 'active' : 'open'}
      text={t('deployments.startStep')}
      {...(isActive ? { note: <Seconds since={wake.startedAt} /> } : {})}
    />
  )
}

function Seconds({ since }: { since: number }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  return t('deployments.waitingFor', number(countSeconds(since, useSeconds())))
}

const countSeconds = (since: number, now: number): number => Math.max(0, Math.floor((now - since) / 1_000))

/** Says that the person can leave, or that the start takes longer than the specification expects. */
function Waiting({ wake, deployment: { specification } }: { wake: Wake; deployment: Deployment }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const seconds = countSeconds(wake.startedAt, useSeconds())
  if (specification !== null && seconds > specification.readinessTimeoutSeconds)
    return (
      <Note tone="warn">
        {t('deployments.tooSlow', number(specification.readinessTimeoutSeconds), specification.workload)}
      </Note>
    )
  return <p className="wake-hint">{t('deployments.leaveHint')}</p>
}

/** Why the deployment was not woken, in the words of the Manager or of the orchestrator. */
function WakeFailure({ wake: { phase, failure } }: { wake: Wake }): ReactNode {
  const t = useText()
  const describe = useChangeText()
  if (phase === 'unknown') return <Note tone="warn">{t('deployments.askUnknown')}</Note>
  if (phase !== 'failed' || failure === null) return null
  return (
    <Note tone="danger">
      <p>{t('deployments.askFailed', describe(failure))}</p>
      {failure.requestId !== null && <Id value={failure.requestId} />}
    </Note>
  )
}
