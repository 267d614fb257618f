// The access review: every access of the installation or of one project, a decision about each, and the attestation.
import './review.css'
import { type ReactNode, useEffect, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { useListSearch } from '../../app/list-search.ts'
import { shellMeDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Page } from '../../kit/page.tsx'
import { ProgressBar } from '../../kit/progress-bar.tsx'
import { FailureState, State } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { SystemGate } from '../system/system-gate.tsx'
import { OpenReview } from './open-review.tsx'
import { ReviewPrint } from './review-print.tsx'
import { ReviewStart } from './review-start.tsx'
import { closeReview, useReview } from './review-store.ts'
import { noFilters } from './select-entries.ts'
import { type Reading, useReport } from './use-report.ts'

export function ReviewPage(): ReactNode {
  const t = useText()
  const { search } = useListSearch()
  const scope = search['scope']
  return (
    <SystemGate title={t('section.accessReview')} action="accessReview.read">
      {scope === undefined ? <ReviewStart /> : <ScopeReview key={scope} scope={scope} />}
    </SystemGate>
  )
}

function ScopeReview({ scope }: { scope: string }): ReactNode {
  const ownerId = useRead(shellMeDocument, {}).data?.me.id
  const list = useListSearch()
  const review = useReview(scope, ownerId)
  const { reading, start, stop } = useReport(scope, ownerId)
  // A closed review must not generate another report before the page changes.
  const [isClosing, setClosing] = useState(false)
  const isMissing = review === undefined && !isClosing
  useEffect(() => {
    if (isMissing) start()
  }, [isMissing, start])
  const close = (): void => {
    stop()
    setClosing(true)
    closeReview(scope)
    list.setOpen(null, { ...noFilters, scope: undefined, sort: undefined, page: undefined })
  }
  if (review === undefined) return <ReadingPage reading={reading} onRetry={start} onStop={close} />
  return list.search['print'] === undefined ? (
    <OpenReview
      scope={scope}
      review={review}
      list={list}
      reading={reading}
      onReadAgain={start}
      onStop={stop}
      onClose={close}
    />
  ) : (
    <ReviewPrint review={review} list={list} />
  )
}

type ReadingPageProps = { reading: Reading; onRetry: () => void; onStop: () => void }

/** The first report of a review. */
function ReadingPage({ reading, onRetry, onStop }: ReadingPageProps): ReactNode {
  const t = useText()
  const { bytes } = useFormat()
  const other = <Button onPress={onStop}>{t('review.otherScope')}</Button>
  return (
    <Page title={t('section.accessReview')}>
      {reading.state === 'failed' ? (
        <FailureState failure={reading.failure} onRetry={onRetry} actions={other} />
      ) : reading.state === 'tooLarge' ? (
        <State icon="warning" title={t('review.tooLarge')} actions={other}>
          {t('review.tooLargeHint')}
        </State>
      ) : (
        <div className="review-reading skeleton" role="status">
          <ProgressBar
            label={t('review.reading', bytes(reading.state === 'running' ? reading.bytes : 0))}
            value={0}
            max={null}
          />
          <Button onPress={onStop}>{t('kit.cancel')}</Button>
        </div>
      )}
    </Page>
  )
}
