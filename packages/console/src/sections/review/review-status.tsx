// What the report covers, how many entries are decided, and what the last attestation recorded.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { ProgressBar } from '../../kit/progress-bar.tsx'
import { FailureNote } from '../../kit/state.tsx'
import { Id, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useScopeName } from './attest-dialog.tsx'
import { decisions } from './report.ts'
import type { Attested, Review } from './review-store.ts'
import { type Progress, findDecision, noFilters } from './select-entries.ts'
import type { Reading } from './use-report.ts'

type ReviewStatusProps = {
  review: Review
  list: ListSearch
  progress: Progress
  reading: Reading
  onReadAgain: () => void
  onStop: () => void
}

export function ReviewStatus({ review, list, progress, reading, ...props }: ReviewStatusProps): ReactNode {
  const t = useText()
  const { number, bytes } = useFormat()
  const nameScope = useScopeName()
  const { report, attested, changes } = review
  const { entries, chain } = report
  const decided = entries.filter((entry) => findDecision(entry, progress) !== null).length
  return (
    <div className="review-status">
      <div className="review-facts">
        <span>
          <strong>{nameScope(review)}</strong>{' '}
          <span className="secondary">
            {t('review.entryCount', entries.length)} · {t('review.read')} <Time at={report.generated_at} />
          </span>
        </span>
        {reading.state === 'running' ? (
          <>
            <span className="numbers secondary" role="status">
              {t('review.reading', bytes(reading.bytes))}
            </span>
            <Button size="small" onPress={props.onStop}>
              {t('kit.cancel')}
            </Button>
          </>
        ) : (
          <Button size="small" icon="refresh" onPress={props.onReadAgain}>
            {t('review.readAgain')}
          </Button>
        )}
      </div>
      <ProgressBar
        label={t('review.decided', number(decided), number(entries.length))}
        value={decided}
        max={entries.length}
      />
      {reading.state === 'failed' && <FailureNote failure={reading.failure} onRetry={props.onReadAgain} />}
      {reading.state === 'tooLarge' && <Note tone="danger">{t('review.tooLargeHint')}</Note>}
      {chain.status === 'broken' && (
        <Note tone="danger">
          <strong>{t('review.chainBroken')}</strong> {chain.reason}
        </Note>
      )}
      {changes !== null && changes.added + changes.removed + changes.changed > 0 && (
        <Note tone="info">{t('review.changedSince', changes.added, changes.removed, changes.changed)}</Note>
      )}
      {attested !== null && <AttestedNote attested={attested} list={list} />}
    </div>
  )
}

/** Says what the attestation of this page covers, and what remains to do. */
function AttestedNote({ attested, list }: { attested: Attested; list: ListSearch }): ReactNode {
  const t = useText()
  const { list: join } = useFormat()
  const { counts, covered, ids } = attested
  const used = decisions.filter((decision) => counts[decision] > 0)
  return (
    <Note
      tone="ok"
      actions={
        counts.revoke > 0 && (
          <Button size="small" onPress={() => list.setFilter({ ...noFilters, state: 'revoke' })}>
            {t('review.showToRevoke', counts.revoke)}
          </Button>
        )
      }
    >
      <div role="status">
        <strong>{t('review.attested', covered)}</strong>{' '}
        {join(used.map((decision) => t(`review.count.${decision}`, counts[decision])))}.{' '}
        {counts.revoke + counts.modify > 0 && t('review.attestedNext')}
      </div>
      <div className="review-attestations">
        {ids.map((id) => (
          <Id key={id} value={id} isWhole />
        ))}
        <Link to="/system/evidence" search={{ query: 'access-review-attestations' } as never}>
          {t('review.showEvidence')}
        </Link>
      </div>
    </Note>
  )
}
