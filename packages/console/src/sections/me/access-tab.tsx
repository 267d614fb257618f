// Shows everything that the caller has access to, and why.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { shellMeDocument } from '../../generated/documents.ts'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { PersonReach } from '../reach/reach-list.tsx'

export function AccessTab(): ReactNode {
  const { data, error, refetch } = useRead(shellMeDocument, {})
  if (data === undefined)
    return error === null ? (
      <Skeleton />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  return (
    <div className="me-access">
      <PersonReach userId={data.me.id} />
    </div>
  )
}
