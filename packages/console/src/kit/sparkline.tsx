// A small bar chart next to a number. Its label describes the bars in words.
import type { ReactNode } from 'react'
import './sparkline.css'

type SparklineProps = {
  values: readonly number[]
  label: string
  /** Size: 120 x 24 px next to a large number, 96 x 16 px in a row. */
  size?: 'large' | 'small'
  /** The bars count failures, unless the tone is neutral. */
  tone?: 'danger' | 'neutral'
}

const gap = 1
const leastBar = 3
const emptyBar = 2

export function Sparkline({ values, label, size = 'large', tone = 'danger' }: SparklineProps): ReactNode {
  const [width, height] = size === 'large' ? [120, 24] : [96, 16]
  const highest = Math.max(...values, 1)
  const step = width / Math.max(values.length, 1)
  return (
    <svg
      className="sparkline"
      data-tone={tone}
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      {values.map((value, index) => {
        const bar = value === 0 ? emptyBar : Math.max(leastBar, (value / highest) * height)
        return (
          <rect
            // oxlint-disable-next-line react/no-array-index-key -- bars have no identity except their position
            key={index}
            className={value === 0 ? 'sparkline-empty' : 'sparkline-bar'}
            x={index * step}
            y={height - bar}
            width={step - gap}
            height={bar}
          />
        )
      })}
    </svg>
  )
}
