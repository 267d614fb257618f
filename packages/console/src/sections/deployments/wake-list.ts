// The list of wakes that a tab remembers, and how it is read again after a reload.
import type { Failure } from '../../api/failures.ts'

type WakePhase = 'asking' | 'waiting' | 'ready' | 'failed' | 'unknown'

export type Wake = {
  /** The id of the deployment in the address. */
  readonly deployment: string
  readonly phase: WakePhase
  readonly startedAt: number
  /** The time of the response; backends that were seen before it do not count. */
  readonly answeredAt: number
  /** The minimum number of replicas after the wake; null until the Manager has responded. */
  readonly minReplicas: number | null
  readonly isAlreadyAwake: boolean
  readonly failure: Failure | null
}

const maxWakes = 20
const maxAgeMs = 3_600_000

/** Whether a live backend is still expected. With an unknown outcome, the request may have been executed. */
export const isUnderway = ({ phase }: Wake): boolean =>
  phase === 'asking' || phase === 'waiting' || phase === 'unknown'

/** Adds a wake, which replaces the previous wake of the same deployment. Keeps only the latest wakes. */
export const putWake = (wakes: readonly Wake[], wake: Wake): readonly Wake[] =>
  [wake, ...wakes.filter(({ deployment }) => deployment !== wake.deployment)].slice(0, maxWakes)

function isWake(value: unknown): value is Wake {
  if (typeof value !== 'object' || value === null) return false
  const { deployment, phase, startedAt } = value as Partial<Wake>
  return typeof deployment === 'string' && typeof phase === 'string' && typeof startedAt === 'number'
}

/** Reads the stored wakes. The response of a wake that was waiting for it is lost, so its outcome is unknown. */
export function restoreWakes(stored: string | null, now: number): readonly Wake[] {
  const list = parse(stored)
  return list
    .filter(isWake)
    .filter(({ startedAt }) => now - startedAt < maxAgeMs)
    .slice(0, maxWakes)
    .map((wake) => (wake.phase === 'asking' ? { ...wake, phase: 'unknown' } : wake))
}

function parse(stored: string | null): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]')
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
