// Says that the installation has tokens that were not read yet, and reads the next ones.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { FailureNote } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type AllTokens, tokensPerStep } from './all-tokens.ts'

export function MoreTokens({ tokens }: { tokens: AllTokens }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { rows, total, hasMore, isReadingMore, readMore, error, retry } = tokens
  if (rows === undefined) return null
  if (error !== null) return <FailureNote failure={describeFailure(error)} onRetry={retry} />
  if (!hasMore) return null
  return (
    <Note
      tone="info"
      actions={
        <Button size="small" isPending={isReadingMore} onPress={readMore}>
          {t('system.readMoreTokens', number(tokensPerStep))}
        </Button>
      }
    >
      {t('system.tokensPartial', number(rows.length), total === undefined ? '…' : number(total))}
    </Note>
  )
}
