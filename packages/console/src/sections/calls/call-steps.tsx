// How far a call got: the checks of the gateway in their order.
import type { ReactNode } from 'react'
import { Icon, type IconName, type Tone } from '../../kit/icon.tsx'
import { Section } from '../../kit/section.tsx'
import { useText } from '../../texts/language.tsx'
import type { Call } from './call.ts'
import { type Step, findReason, findStep, steps } from './reasons.ts'

type State = 'passed' | 'failed' | 'skipped' | 'unknown'
const looks: Record<State, readonly [IconName, Tone]> = {
  passed: ['ok', 'ok'],
  failed: ['danger', 'danger'],
  skipped: ['minus', 'muted'],
  unknown: ['clock', 'info'],
}

/** Returns the state of each step. A partner that responds with an error has received the call. */
function readStates(call: Call): readonly (readonly [Step, State])[] {
  const reason = findReason(call)
  if (reason === 'other' || reason === 'internal') return []
  if (call.durationMs === null) return steps.map((step) => [step, step === 'access' ? 'passed' : 'unknown'])
  const failedAt = reason === null ? steps.length : steps.indexOf(findStep(reason))
  return steps.map((step, index) => [
    step,
    index < failedAt ? 'passed' : index === failedAt ? 'failed' : 'skipped',
  ])
}

export function CallSteps({ call }: { call: Call & { readonly transformationApplied: boolean } }): ReactNode {
  const t = useText()
  const states = readStates(call).filter(
    ([step, state]) => step !== 'template' || state === 'failed' || call.transformationApplied,
  )
  if (states.length === 0) return null
  return (
    <Section title={t('calls.steps')}>
      <ol className="call-steps">
        {states.map(([step, state]) => (
          <li key={step} className="call-step" data-state={state}>
            <Icon name={looks[state][0]} tone={looks[state][1]} />
            <span className="call-step-name">{t(`calls.step.${step}`)}</span>
            <span className="call-step-state">{t(`calls.stepState.${state}`)}</span>
          </li>
        ))}
      </ol>
    </Section>
  )
}
