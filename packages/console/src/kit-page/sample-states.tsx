import type { ReactNode } from 'react'
import type { Failure, FailureKind } from '../api/failures.ts'
import { Button } from '../kit/button.tsx'
import { FailureState, Skeleton, State } from '../kit/state.tsx'

const kinds: readonly FailureKind[] = [
  ...(['sessionEnded', 'notFound', 'rateLimited', 'unavailable', 'offline', 'unreachable'] as const),
  ...(['unknownOutcome', 'conflict', 'unexpected'] as const),
]
const describe = (kind: FailureKind): Failure => ({
  kind,
  message: 'the message of the Manager',
  fields: [],
  requestId: '01a1dce9-d14b-710f-8f2a-5c1f9be20ecb',
  retryAfterMs: 5_000,
  changedBy: 'Ben Okafor',
})

/** Shows the states loading and empty, and every kind of failure. */
export const SampleStates = (): ReactNode => (
  <>
    <Skeleton rows={3} />
    <State icon="tenants" title="No tenants yet" actions={<Button variant="primary">New tenant</Button>}>
      A tenant is a customer of the project.
    </State>
    {kinds.map((kind) => (
      <FailureState key={kind} failure={describe(kind)} onRetry={() => undefined} />
    ))}
  </>
)
