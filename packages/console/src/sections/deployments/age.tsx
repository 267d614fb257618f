import type { ReactNode } from 'react'
import { useSeconds } from '../../app/seconds.ts'
import { useFormat } from '../../texts/format.ts'

/** How long ago something happened, counting up, with the exact time on hover. */
export function Age({ at }: { at: string }): ReactNode {
  const { relative, exact } = useFormat()
  const now = useSeconds()
  return (
    <time className="age" dateTime={at} title={exact(at)}>
      {/* The clock of the browser can be behind the clock of the Manager. */}
      {relative(at, Math.max(now, Date.parse(at)))}
    </time>
  )
}
