// The caller's open token. The list may not show it, for example because of a filter or because it is on another page.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { TokenPanel } from '../../app/token-panel.tsx'
import { meTokenDocument } from '../../generated/documents.ts'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'

export function OwnTokenPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useText()
  const { data, error, refetch } = useRead(meTokenDocument, { id })
  const token = data?.tokens.nodes[0]
  return (
    <TokenPanel token={token ?? null} onClose={onClose}>
      {data === undefined && error === null && <Skeleton />}
      {data === undefined && error !== null && (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
      {data !== undefined && (
        <State icon="key" title={t('token.notFound')}>
          {t('token.notFoundHint')}
        </State>
      )}
    </TokenPanel>
  )
}
