import { type ReactNode, useMemo } from 'react'
import { Status } from '../../kit/badge.tsx'
import { type DataColumn, TwoLines } from '../../kit/data-table.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { PiletVersion } from './pilet-types.ts'
import { type FeedFacts, useFeeds } from './use-feeds.ts'
import { type UsageCount, useUsage } from './use-usage.ts'

export function VersionStatus({ isEnabled }: { isEnabled: boolean }): ReactNode {
  const t = useText()
  return (
    <Status kind={isEnabled ? 'ok' : 'off'}>{isEnabled ? t('pilets.enabled') : t('pilets.disabled')}</Status>
  )
}

/** The state of the signature. Only feeds contain it, so it is unknown for versions that no feed contains. */
export function Signature({ facts }: { facts: FeedFacts | null }): ReactNode {
  const t = useText()
  if (facts === null)
    return (
      <span className="muted truncate" title={t('pilets.signatureUnknownHint')}>
        {t('pilets.signatureUnknown')}
      </span>
    )
  return facts.keyId === null ? (
    <Status kind="danger">{t('pilets.unsigned')}</Status>
  ) : (
    <Status kind="ok">{t('pilets.signed')}</Status>
  )
}

function LoadedBy({ facts }: { facts: FeedFacts | null }): ReactNode {
  const t = useText()
  const { list } = useFormat()
  const applications = facts?.applications ?? []
  if (applications.length === 0) return <span className="muted">–</span>
  const text = list(applications)
  return (
    <span className="truncate" title={text}>
      {applications.length === 1 ? text : t('pilets.applications', applications.length)}
    </span>
  )
}

function UsedBy({ count }: { count: UsageCount | null }): ReactNode {
  const t = useText()
  if (count === null || (count.enabled === 0 && count.pinned === 0)) return <span className="muted">–</span>
  const more = count.isComplete ? '' : '+'
  const texts = [
    ...(count.enabled > 0 ? [t('pilets.enabledBy', count.enabled) + more] : []),
    ...(count.pinned > 0 ? [t('pilets.pinnedBy', count.pinned) + more] : []),
  ]
  return <span className="truncate">{texts.join(' · ')}</span>
}

/** The columns that other requests fill. */
function useFactColumns(rows: readonly PiletVersion[]): readonly DataColumn<PiletVersion>[] {
  const t = useText()
  const findFacts = useFeeds()
  const countUsage = useUsage(rows)
  return useMemo(
    () => [
      {
        id: 'signature',
        title: t('pilets.signature'),
        width: 112,
        minWidth: 104,
        priority: 2,
        render: (version) =>
          findFacts === undefined ? <CellSkeleton /> : <Signature facts={findFacts(version)} />,
      },
      {
        id: 'loadedBy',
        title: t('pilets.loadedBy'),
        width: '1fr',
        minWidth: 120,
        priority: 3,
        render: (version) =>
          findFacts === undefined ? <CellSkeleton /> : <LoadedBy facts={findFacts(version)} />,
      },
      {
        id: 'usedBy',
        title: t('pilets.usedBy'),
        width: '1fr',
        minWidth: 144,
        priority: 3,
        render: (version) =>
          countUsage === undefined ? <CellSkeleton /> : <UsedBy count={countUsage(version)} />,
      },
    ],
    [t, findFacts, countUsage],
  )
}

export function usePiletColumns(rows: readonly PiletVersion[]): readonly DataColumn<PiletVersion>[] {
  const t = useText()
  const { bytes } = useFormat()
  const facts = useFactColumns(rows)
  return useMemo(
    () => [
      {
        id: 'name',
        title: t('pilets.name'),
        sortField: 'name',
        width: '2fr',
        minWidth: 136,
        isRowHeader: true,
        priority: 1,
        render: ({ name, version, description }) => (
          <TwoLines
            first={
              <>
                {name}
                {/* Versions of a pilet would otherwise have the same name for screen readers. */}
                <span className="visually-hidden"> {version}</span>
              </>
            }
            second={<span className="pilets-text">{description}</span>}
          />
        ),
      },
      {
        id: 'version',
        title: t('pilets.version'),
        sortField: 'version',
        width: 112,
        minWidth: 96,
        priority: 1,
        render: ({ version }) => (
          <code className="truncate" title={version}>
            {version}
          </code>
        ),
      },
      {
        id: 'status',
        title: t('pilets.status'),
        sortField: 'enabled',
        width: 104,
        minWidth: 104,
        priority: 2,
        render: ({ enabled }) => <VersionStatus isEnabled={enabled} />,
      },
      ...facts,
      {
        id: 'size',
        title: t('pilets.size'),
        sortField: 'size',
        align: 'end',
        width: 96,
        minWidth: 88,
        priority: 2,
        render: ({ size }) => bytes(size),
      },
      {
        id: 'uploaded',
        title: t('pilets.uploaded'),
        sortField: 'createdAt',
        align: 'end',
        width: 120,
        minWidth: 112,
        priority: 2,
        render: ({ createdAt }) => <Time at={createdAt} />,
      },
    ],
    [t, bytes, facts],
  )
}
