// The three decisions as buttons, for one entry or for several.
import '../../kit/tabs.css'
import type { ReactNode } from 'react'
import { ToggleButton } from 'react-aria-components'
import { Status, type StatusKind } from '../../kit/badge.tsx'
import { useText } from '../../texts/language.tsx'
import { type Decision, decisions } from './report.ts'

type DecisionButtonsProps = {
  /** Names the entries for screen readers. */
  label: string
  value: Decision | null
  /** Called with null if the person presses the current decision again. */
  onChange: (decision: Decision | null) => void
}

export function DecisionButtons({ label, value, onChange }: DecisionButtonsProps): ReactNode {
  const t = useText()
  return (
    <div className="segments review-decisions" role="group" aria-label={label}>
      {decisions.map((decision) => (
        <ToggleButton
          key={decision}
          className="segment"
          data-decision={decision}
          isSelected={value === decision}
          onChange={(isSelected) => onChange(isSelected ? decision : null)}
        >
          {t(`review.decision.${decision}`)}
        </ToggleButton>
      ))}
    </div>
  )
}

const kinds: Readonly<Record<Decision, StatusKind>> = { approve: 'ok', modify: 'warn', revoke: 'danger' }

/** A decision with its icon. */
export function DecisionStatus({ decision }: { decision: Decision }): ReactNode {
  const t = useText()
  return <Status kind={kinds[decision]}>{t(`review.decision.${decision}`)}</Status>
}
