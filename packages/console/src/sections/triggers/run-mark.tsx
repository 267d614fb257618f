// The outcome of a run as a shape. Shapes differ, not only colors, so that a failure is found at a glance.
import type { ReactNode } from 'react'
import { toOutcome } from './run-words.ts'

const filled = 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z'
const shapes = {
  delivered: { shape: filled, sign: 'M5.400 8.200l1.800 1.800 3.400-3.700' },
  failed: {
    shape:
      'M3.500 2h9A1.500 1.500 0 0 1 14 3.500v9a1.500 1.500 0 0 1-1.500 1.500h-9A1.500 1.500 0 0 1 2 12.500v-9A1.500 1.500 0 0 1 3.500 2z',
    sign: 'M6 6l4 4M10 6l-4 4',
  },
  missed: { shape: 'M8 2.500 14.200 13.300H1.800z', sign: null },
  skipped: { shape: filled, sign: null },
  pending: { shape: filled, sign: 'M8 4.800V8l2.200 1.400' },
  planned: { shape: filled, sign: null },
} as const

/** `planned` is a time at which no run exists yet. */
export function RunMark({ outcome }: { outcome: string }): ReactNode {
  const known = toOutcome(outcome)
  const kind =
    outcome === 'planned'
      ? 'planned'
      : known === 'delivered' || known === 'failed' || known === 'missed' || known === 'pending'
        ? known
        : 'skipped'
  const { shape, sign } = shapes[kind]
  return (
    <svg className="run-mark" data-kind={kind} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <path className="run-mark-shape" d={shape} />
      {sign !== null && <path className="run-mark-sign" d={sign} />}
    </svg>
  )
}
