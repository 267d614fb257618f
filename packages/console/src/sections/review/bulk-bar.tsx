// Decides about all chosen entries in one step.
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button, IconButton } from '../../kit/button.tsx'
import { TextField } from '../../kit/form.tsx'
import { returnFocus } from '../../kit/return-focus.ts'
import { useText } from '../../texts/language.tsx'
import { useFormat } from '../../texts/format.ts'
import type { Draft } from './attestation.ts'
import { DecisionButtons } from './decision-buttons.tsx'
import { maxComment } from './entry-panel.tsx'

type BulkBarProps = {
  /** The chosen entries. */
  ids: readonly string[]
  /** The entries that match the filter, on all pages. */
  matching: readonly string[]
  onChoose: (ids: ReadonlySet<string>) => void
  onDecide: (ids: readonly string[], draft: Draft | null) => void
}

export function BulkBar({ ids, matching, onChoose, onDecide }: BulkBarProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [comment, setComment] = useState('')
  const bar = useRef<HTMLDivElement>(null)
  // The bar disappears with the button that was pressed, so the focus returns to the table.
  useEffect(() => {
    const element = bar.current
    return () => returnFocus(element)
  }, [])
  const chosen = new Set(ids)
  const hasMore = matching.some((id) => !chosen.has(id))
  return (
    <div ref={bar} className="review-bulk" role="group" aria-label={t('review.chosen', ids.length)}>
      <strong className="numbers" role="status">
        {t('review.chosen', ids.length)}
      </strong>
      {hasMore && (
        <Button variant="link" onPress={() => onChoose(new Set([...ids, ...matching]))}>
          {t('review.chooseAll', number(matching.length))}
        </Button>
      )}
      <div className="review-bulk-comment">
        <TextField
          label={t('review.commentForAll')}
          maxLength={maxComment}
          value={comment}
          onChange={setComment}
        />
      </div>
      <DecisionButtons
        label={t('review.decideAll')}
        value={null}
        onChange={(decision) => {
          if (decision === null) return
          onDecide(ids, { decision, comment })
          onChoose(new Set())
        }}
      />
      <Button
        variant="quiet"
        onPress={() => {
          onDecide(ids, null)
          onChoose(new Set())
        }}
      >
        {t('review.undecide')}
      </Button>
      <IconButton icon="close" label={t('review.chooseNone')} onPress={() => onChoose(new Set())} />
    </div>
  )
}
