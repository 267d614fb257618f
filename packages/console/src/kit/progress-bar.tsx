// How much of a work is done, as a bar below its text.
import './progress-bar.css'
import type { ReactNode } from 'react'
import { Label, ProgressBar as AriaProgressBar } from 'react-aria-components'

type ProgressBarProps = {
  label: ReactNode
  value: number
  /** Null if the end is unknown. */
  max: number | null
}

export const ProgressBar = ({ label, value, max }: ProgressBarProps): ReactNode => (
  <AriaProgressBar
    className="progress"
    value={value}
    maxValue={Math.max(1, max ?? 1)}
    isIndeterminate={max === null}
  >
    {({ percentage }) => (
      <>
        <Label className="progress-text">{label}</Label>
        {/* The width is an attribute, because the policy of the page forbids styles. */}
        <svg className="progress-track" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect className="progress-done" width={percentage ?? 0} height="4" />
        </svg>
      </>
    )}
  </AriaProgressBar>
)
