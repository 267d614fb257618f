// The end of a review: the person takes responsibility for decisions, and the dialog names what they cover.
import { type ReactNode, useMemo, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { Button } from '../../kit/button.tsx'
import { Check, Select, TextField } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { ProgressBar } from '../../kit/progress-bar.tsx'
import { Facts, Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type Coverage, getCoverage } from './attestation.ts'
import { type Decision, decisions } from './report.ts'
import type { Review } from './review-store.ts'
import { type Attest, useAttest } from './use-attest.ts'

const maxComment = 2_000

type AttestDialogProps = {
  scope: string
  review: Review
  /** Generates the report again. Decisions about unchanged entries stay. */
  onReadAgain: () => void
  onClose: () => void
}

export function AttestDialog({ scope, review, onReadAgain, onClose }: AttestDialogProps): ReactNode {
  const t = useText()
  const { report, drafts, attestedEntries: attested } = review
  const attest = useAttest(scope, review)
  const [rest, setRest] = useState<Decision | null>(null)
  const [comment, setComment] = useState('')
  const [isConfirmed, setConfirmed] = useState(false)
  const coverage = useMemo(
    () => getCoverage(report.entries, { drafts, attested, rest }),
    [report, drafts, attested, rest],
  )
  const undecided = useMemo(
    () => getCoverage(report.entries, { drafts, attested, rest: null }).uncovered,
    [report, drafts, attested],
  )
  const covered = coverage.entries.length
  const { progress, failure } = attest
  return (
    <FormDialog
      title={t('review.attestTitle')}
      width={640}
      submitText={covered === 0 ? t('review.attest') : t('review.attestCount', covered)}
      disabledReason={
        covered === 0 ? t('review.nothingCovered') : isConfirmed ? null : t('review.confirmFirst')
      }
      isDirty={comment !== ''}
      isPending={progress !== null}
      failure={failure}
      fieldNames={['comment']}
      onSubmit={() => attest.send(coverage, comment.trim(), onClose)}
      onClose={onClose}
    >
      {undecided > 0 && (
        <Select
          label={t('review.undecided', undecided)}
          value={rest ?? 'none'}
          options={[
            { id: 'none', text: t('review.leaveOut') },
            ...decisions.map((id) => ({ id, text: t(`review.decision.${id}`) })),
          ]}
          onChange={(id) => setRest(decisions.find((decision) => decision === id) ?? null)}
        />
      )}
      <CoverageFacts review={review} coverage={coverage} />
      <TextField
        name="comment"
        label={t('review.attestComment')}
        hint={t('review.attestCommentHint')}
        lines={3}
        maxLength={maxComment}
        value={comment}
        onChange={setComment}
      />
      {coverage.unexplained > 0 && <Note tone="info">{t('review.unexplained', coverage.unexplained)}</Note>}
      <Note tone="warn">{t('review.changesNothing')}</Note>
      <Check
        label={<ConfirmText review={review} coverage={coverage} />}
        isSelected={isConfirmed}
        onChange={setConfirmed}
      />
      <AttestState attest={attest} onReadAgain={onReadAgain} />
    </FormDialog>
  )
}

/** The progress of several attestations, and the way out of a failure. */
function AttestState({
  attest: { progress, failure },
  onReadAgain,
}: Pick<AttestDialogProps, 'onReadAgain'> & { attest: Attest }): ReactNode {
  const t = useText()
  return (
    <>
      {progress !== null && progress.total > 1 && (
        <ProgressBar
          label={t('review.attesting', progress.current, progress.total)}
          value={progress.current - 1}
          max={progress.total}
        />
      )}
      {failure !== null && (
        <div>
          <Button icon="refresh" onPress={onReadAgain}>
            {t('review.readAgain')}
          </Button>
          <p className="hint">{t('review.readAgainHint')}</p>
        </div>
      )}
    </>
  )
}

type CoverageProps = { review: Review; coverage: Coverage }

/** Names the scope of a review. */
export function useScopeName(): (review: Pick<Review, 'report'>) => string {
  const t = useText()
  return ({ report: { scope } }) =>
    scope.type === 'system' ? t('review.wholeSystem') : t('review.projectScope', scope.name)
}

function CoverageFacts({ review, coverage }: CoverageProps): ReactNode {
  const t = useText()
  const { number, exact, list } = useFormat()
  const nameScope = useScopeName()
  const { counts, entries, overall, uncovered } = coverage
  const { report } = review
  const used = decisions.filter((decision) => counts[decision] > 0)
  return (
    <Facts
      items={[
        { label: t('review.scope'), value: nameScope(review) },
        { label: t('review.asOf'), value: exact(report.generated_at) },
        {
          label: t('review.covered'),
          value: t('review.coveredOf', number(entries.length), number(report.entries.length)),
        },
        ...(uncovered > 0 ? [{ label: t('review.notCovered'), value: number(uncovered) }] : []),
        ...(used.length > 0
          ? [
              {
                label: t('review.decisions'),
                value: list(used.map((decision) => t(`review.count.${decision}`, counts[decision]))),
              },
              { label: t('review.overall'), value: t(`review.decision.${overall}`) },
            ]
          : []),
        { label: t('review.population'), value: <Id value={report.population_hash} /> },
      ]}
    />
  )
}

function ConfirmText({ review, coverage }: CoverageProps): ReactNode {
  const t = useText()
  const nameScope = useScopeName()
  return t('review.confirm', coverage.entries.length, nameScope(review))
}
