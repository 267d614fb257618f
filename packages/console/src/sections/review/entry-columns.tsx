// The columns of the entries.
import { type ReactNode, useMemo } from 'react'
import { Badge, type BadgeTone } from '../../kit/badge.tsx'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import type { Draft } from './attestation.ts'
import { DecisionButtons } from './decision-buttons.tsx'
import type { Decision, Entry } from './report.ts'
import { type Progress, findDecision, findDraft } from './select-entries.ts'

type EntryRow = Entry & { readonly id: string }

export const adviceTones: Readonly<Record<Entry['recommendation'], BadgeTone>> = {
  revoke: 'danger',
  review: 'warn',
  keep: 'ok',
}

/** Names an access in one sentence part, for labels. */
export const describeAccess = (entry: Entry, t: Translate): string =>
  t('review.accessOf', entry.name, entry.role, entry.scope_name)

/** The kind of a scope; the installation has no other name. */
export const describeScope = (entry: Entry, t: Translate): string =>
  entry.scope_type === 'system' ? t('review.wholeSystem') : entry.scope_name

type ColumnInput = {
  t: Translate
  ownId: string
  progress: Progress
  onDecide: (ids: readonly string[], draft: Draft | null) => void
}

type WhoProps = { entry: Entry; ownId: string; decision: Decision | null }

function Who({ entry, ownId, decision }: WhoProps): ReactNode {
  const t = useText()
  const kind = t(`review.principal.${entry.principal_type}`)
  return (
    <span className="review-who">
      <TwoLines
        first={
          <>
            {entry.name}
            {entry.principal_id === ownId && <span className="muted"> ({t('review.you')})</span>}
          </>
        }
        second={
          <>
            <span className="review-narrow">{`${entry.role} · ${t(`review.state.${decision ?? 'open'}`)}`}</span>
            <span className="review-wide">{entry.email === '' ? kind : `${kind} · ${entry.email}`}</span>
          </>
        }
      />
    </span>
  )
}

const Flags = ({ entry }: { entry: Entry }): ReactNode => {
  const t = useText()
  const names = entry.flags.map((flag) => t(`review.flag.${flag}`))
  return (
    <span className="truncate" title={names.join(', ')}>
      {names.join(', ')}
    </span>
  )
}

/** The decision of this review. An attested decision can be replaced by a new one. */
function DecisionCell({ entry, input }: { entry: Entry; input: ColumnInput }): ReactNode {
  const { t, progress, onDecide } = input
  const draft = progress.drafts.get(entry.entry_id)
  return (
    <DecisionButtons
      label={t('review.decisionAbout', describeAccess(entry, t))}
      value={findDecision(entry, progress)}
      onChange={(decision) =>
        onDecide([entry.entry_id], decision === null ? null : { decision, comment: draft?.comment ?? '' })
      }
    />
  )
}

/** Shows whether the decision is attested, with its comment; for an open entry, the last attestation. */
function StateCell({
  entry,
  progress,
  t,
}: Pick<ColumnInput, 'progress' | 't'> & { entry: Entry }): ReactNode {
  const found = findDraft(entry, progress)
  const { last_attestation: last } = entry
  if (found !== undefined) {
    const isAttested = !progress.drafts.has(entry.entry_id)
    return (
      <TwoLines
        first={t(isAttested ? 'review.attestedNow' : 'review.notAttested')}
        second={<span title={found.comment}>{found.comment}</span>}
      />
    )
  }
  if (last === null) return <span className="muted">{t('review.neverAttested')}</span>
  return <TwoLines first={t(`review.decision.${last.decision}`)} second={<Time at={last.attested_at} />} />
}

const createColumns = (input: ColumnInput): readonly DataColumn<EntryRow>[] => {
  const { t, ownId, progress } = input
  return [
    {
      id: 'who',
      title: t('review.who'),
      sortField: 'name',
      width: '2fr',
      minWidth: 168,
      isRowHeader: true,
      priority: 1,
      render: (entry) => <Who entry={entry} ownId={ownId} decision={findDecision(entry, progress)} />,
    },
    {
      id: 'access',
      title: t('review.accessTo'),
      sortField: 'access',
      width: '2fr',
      minWidth: 144,
      priority: 2,
      render: (entry) => (
        <span className="review-who">
          <TwoLines first={describeScope(entry, t)} second={t(`review.scope.${entry.scope_type}`)} />
        </span>
      ),
    },
    {
      id: 'role',
      title: t('review.role'),
      sortField: 'role',
      minWidth: 104,
      priority: 3,
      render: ({ role }) => <span className="truncate">{role}</span>,
    },
    {
      id: 'activity',
      title: t('review.lastActivity'),
      sortField: 'activity',
      minWidth: 104,
      priority: 3,
      render: (entry) => <Time at={entry.last_activity_at} />,
    },
    {
      id: 'flags',
      title: t('review.flags'),
      width: '2fr',
      minWidth: 152,
      priority: 2,
      render: (entry) => <Flags entry={entry} />,
    },
    {
      id: 'advice',
      title: t('review.advice'),
      width: 88,
      minWidth: 88,
      priority: 2,
      render: ({ recommendation }) => (
        <Badge tone={adviceTones[recommendation]}>{t(`review.advice.${recommendation}`)}</Badge>
      ),
    },
    {
      id: 'decision',
      title: t('review.decision'),
      width: 204,
      minWidth: 204,
      priority: 2,
      render: (entry) => <DecisionCell entry={entry} input={input} />,
    },
    {
      id: 'state',
      title: t('review.attestation'),
      minWidth: 112,
      priority: 2,
      render: (entry) => <StateCell entry={entry} progress={progress} t={t} />,
    },
  ]
}

export function useEntryColumns({ ownId, progress, onDecide }: Omit<ColumnInput, 't'>) {
  const t = useText()
  return useMemo(() => createColumns({ t, ownId, progress, onDecide }), [t, ownId, progress, onDecide])
}
