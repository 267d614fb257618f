// A review for paper or a PDF file: the entries of the filter with their decisions, and the attestation.
import type { ReactNode } from 'react'
import { useRead } from '../../api/requests.ts'
import type { ListSearch } from '../../app/list-search.ts'
import { namePerson } from '../../app/person-name.ts'
import { type PrintColumn, PrintFacts, PrintPage, PrintTime } from '../../app/print-page.tsx'
import { shellMeDocument } from '../../generated/documents.ts'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { useScopeName } from './attest-dialog.tsx'
import { describeScope } from './entry-columns.tsx'
import { useFound, useProgress } from './open-review.tsx'
import { type Entry, decisions } from './report.ts'
import type { Review } from './review-store.ts'
import { type Progress, findDecision, findDraft } from './select-entries.ts'

export function ReviewPrint({ review, list }: { review: Review; list: ListSearch }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const nameScope = useScopeName()
  const progress = useProgress(review)
  const found = useFound(review, list, progress)
  const { report } = review
  const decided = report.entries.filter((entry) => findDecision(entry, progress) !== null).length
  return (
    <PrintPage
      title={`${t('section.accessReview')}: ${nameScope(review)}`}
      facts={[
        { label: t('review.asOf'), value: <PrintTime at={report.generated_at} /> },
        {
          label: t('review.entries'),
          value: t('review.coveredOf', number(found.length), number(report.entries.length)),
        },
        {
          label: t('review.progress'),
          value: t('review.decided', number(decided), number(report.entries.length)),
        },
        { label: t('review.chain'), value: report.chain.reason ?? t(`review.chain.${report.chain.status}`) },
        { label: t('review.report'), value: <code>{report.report_id}</code> },
        { label: t('review.population'), value: <code>{report.population_hash}</code> },
      ]}
      columns={createColumns(t, progress)}
      rows={found}
      getId={({ entry_id }) => entry_id}
      end={<PrintedAttestation review={review} />}
      onBack={() => list.setOpen(null, { print: undefined })}
    />
  )
}

const createColumns = (t: Translate, progress: Progress): readonly PrintColumn<Entry>[] => [
  {
    id: 'who',
    title: t('review.who'),
    isWide: true,
    isRowHeader: true,
    render: (entry) => (
      <>
        <bdi>{entry.name}</bdi>
        <small>
          {t(`review.principal.${entry.principal_type}`)}
          {entry.email !== '' && (
            <>
              , <bdi>{entry.email}</bdi>
            </>
          )}
        </small>
      </>
    ),
  },
  {
    id: 'access',
    title: t('review.accessTo'),
    render: (entry) => (
      <>
        <bdi>{describeScope(entry, t)}</bdi>
        <small>{t(`review.scope.${entry.scope_type}`)}</small>
      </>
    ),
  },
  { id: 'role', title: t('review.role'), render: ({ role }) => role },
  {
    id: 'granted',
    title: t('review.granted'),
    render: ({ granted_at: at }) => <PrintDate at={at} none={t('review.unrecorded')} />,
  },
  {
    id: 'activity',
    title: t('review.lastActivity'),
    render: ({ last_activity_at: at }) => <PrintDate at={at} none={t('kit.never')} />,
  },
  {
    id: 'flags',
    title: t('review.flags'),
    render: ({ flags }) => flags.map((flag) => t(`review.flag.${flag}`)).join(', '),
  },
  { id: 'advice', title: t('review.advice'), render: (entry) => t(`review.advice.${entry.recommendation}`) },
  {
    id: 'decision',
    title: t('review.decision'),
    render: (entry) => <PrintedDecision entry={entry} progress={progress} />,
  },
]

function PrintDate({ at, none }: { at: string | null; none: string }): ReactNode {
  const { date } = useFormat()
  return at === null ? none : <time dateTime={at}>{date(at)}</time>
}

function PrintedDecision({ entry, progress }: { entry: Entry; progress: Progress }): ReactNode {
  const t = useText()
  const draft = findDraft(entry, progress)
  if (draft === undefined) return t('review.state.open')
  const isAttested = !progress.drafts.has(entry.entry_id)
  return (
    <>
      {t(`review.decision.${draft.decision}`)}
      <small>{t(isAttested ? 'review.attestedNow' : 'review.notAttested')}</small>
      {draft.comment !== '' && <small>{draft.comment}</small>}
    </>
  )
}

function PrintedAttestation({ review: { attested } }: { review: Review }): ReactNode {
  const t = useText()
  const { list: join } = useFormat()
  // A review belongs to the person who started it.
  const { data } = useRead(shellMeDocument, {})
  if (attested === null) return <p className="print-block">{t('review.printNotAttested')}</p>
  const used = decisions.filter((decision) => attested.counts[decision] > 0)
  return (
    <section className="print-block">
      <h2 className="section-title">{t('review.attestation')}</h2>
      <PrintFacts
        facts={[
          { label: t('review.attestedBy'), value: data === undefined ? '' : namePerson(data.me) },
          { label: t('review.attestedAt'), value: <PrintTime at={attested.at} /> },
          {
            label: t('review.decisions'),
            value: join(used.map((decision) => t(`review.count.${decision}`, attested.counts[decision]))),
          },
          {
            label: t('review.attestationId'),
            value: attested.ids.map((id) => (
              <div key={id}>
                <code>{id}</code>
              </div>
            )),
          },
          ...(attested.comment === '' ? [] : [{ label: t('review.comment'), value: attested.comment }]),
        ]}
      />
    </section>
  )
}
