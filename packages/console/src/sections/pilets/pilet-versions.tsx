// All versions of a pilet, the newest first.
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useGrowingRows } from '../../api/growing-rows.ts'
import { useProject } from '../../app/project.tsx'
import { piletPagesDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Section, SectionRow } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { VersionStatus } from './pilet-columns.tsx'
import type { PiletVersion } from './pilet-types.ts'

type PiletVersionsProps = { version: PiletVersion; onOpen: (id: string) => void }

/** The API matches a part of a name, so versions of other pilets are left out here. */
function useVersionsOf(name: string) {
  const { id: project } = useProject()
  const { rows, hasMore, isReadingMore, readMore, error, retry } = useGrowingRows({
    document: piletPagesDocument,
    variables: {
      project,
      filters: [{ field: 'name', value: name }],
      order: [{ field: 'name' }, { field: 'version', direction: 'DESC' as const }],
    },
    select: (result) => result.piletPackagesConnection,
    maxPages: 1,
  })
  const versions = rows?.filter((row) => row.name === name)
  // The list is ordered by name, so another name after the versions means that all of them have been read.
  const isPast = versions !== undefined && versions.length > 0 && rows?.at(-1)?.name !== name
  const isComplete = !hasMore || isPast
  const isEmpty = versions?.length === 0 && !isComplete
  const readNext = useEffectEvent(readMore)
  useEffect(() => {
    if (isEmpty && !isReadingMore) readNext()
  }, [isEmpty, isReadingMore])
  return { versions: isEmpty ? undefined : versions, isComplete, isReadingMore, readMore, error, retry }
}

export function PiletVersions({ version, onOpen }: PiletVersionsProps): ReactNode {
  const t = useText()
  const { number, bytes } = useFormat()
  const { versions, isComplete, isReadingMore, readMore, error, retry } = useVersionsOf(version.name)
  if (error !== null) return <FailureState failure={describeFailure(error)} onRetry={retry} />
  if (versions === undefined) return <Skeleton rows={8} />
  return (
    <Section title={t('pilets.versions')} note={`${number(versions.length)}${isComplete ? '' : '+'}`}>
      {versions.map((row) => (
        <SectionRow
          key={row.id}
          end={
            <>
              <VersionStatus isEnabled={row.enabled} />
              <span className="numbers">{bytes(row.size)}</span>
              <Time at={row.createdAt} />
            </>
          }
        >
          {row.id === version.id ? (
            <code className="truncate" aria-current="true">
              <strong>{row.version}</strong>
            </code>
          ) : (
            <Button variant="link" onPress={() => onOpen(row.id)}>
              {row.version}
            </Button>
          )}
        </SectionRow>
      ))}
      {!isComplete && (
        <Button variant="link" isPending={isReadingMore} onPress={readMore}>
          {t('pilets.moreVersions')}
        </Button>
      )}
    </Section>
  )
}
