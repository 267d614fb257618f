// Facts about a version: its state, its bytes, its signature, and the applications that load it.
import { type ReactNode, useState } from 'react'
import { useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { Facts, Id, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { DescriptionDialog } from './description-dialog.tsx'
import { Signature, VersionStatus } from './pilet-columns.tsx'
import type { PiletVersion } from './pilet-types.ts'
import { useFeeds } from './use-feeds.ts'

/** Smaller sizes are shown exactly. */
const roundedFrom = 1_000

export function PiletSummary({ version }: { version: PiletVersion }): ReactNode {
  const t = useText()
  return (
    <>
      {!version.enabled && (
        <div className="pilets-hint">
          <Note tone="info">{t('pilets.disabledHint')}</Note>
        </div>
      )}
      <Description version={version} />
      <VersionFacts version={version} />
    </>
  )
}

function Description({ version }: { version: PiletVersion }): ReactNode {
  const t = useText()
  const canDescribe = useMay('pilets.describe')
  const [isOpen, setOpen] = useState(false)
  return (
    <Section
      title={t('pilets.description')}
      action={
        canDescribe && (
          <Button variant="link" action="pilets.describe" onPress={() => setOpen(true)}>
            {t('kit.edit')}
          </Button>
        )
      }
    >
      {version.description === '' ? (
        <SectionText>{t('pilets.noDescription')}</SectionText>
      ) : (
        <p className="pilets-description">{version.description}</p>
      )}
      {isOpen && <DescriptionDialog version={version} onClose={() => setOpen(false)} />}
    </Section>
  )
}

function VersionFacts({ version }: { version: PiletVersion }): ReactNode {
  const t = useText()
  const { bytes, number, list } = useFormat()
  const findFacts = useFeeds()
  const facts = findFacts?.(version) ?? null
  const applications = facts?.applications ?? []
  return (
    <Section title={t('pilets.facts')}>
      <Facts
        items={[
          { label: t('pilets.status'), value: <VersionStatus isEnabled={version.enabled} /> },
          {
            label: t('pilets.size'),
            value: (
              <>
                {bytes(version.size)}{' '}
                {version.size >= roundedFrom && (
                  <span className="muted">{t('pilets.bytes', number(version.size))}</span>
                )}
              </>
            ),
          },
          {
            label: t('pilets.signature'),
            value:
              findFacts === undefined ? (
                <CellSkeleton />
              ) : (
                <>
                  <Signature facts={facts} />
                  {facts === null && <div className="muted">{t('pilets.signatureUnknownHint')}</div>}
                  {facts?.keyId === null && <div className="muted">{t('pilets.unsignedHint')}</div>}
                  {typeof facts?.keyId === 'string' && (
                    <div>
                      {t('pilets.key')} <Id value={facts.keyId} isWhole />
                    </div>
                  )}
                </>
              ),
          },
          {
            label: t('pilets.loadedBy'),
            value:
              findFacts === undefined ? (
                <CellSkeleton />
              ) : applications.length === 0 ? (
                <span className="muted">{t('pilets.noFeed')}</span>
              ) : (
                list(applications)
              ),
          },
          { label: 'SHA-256', value: <Id value={version.hash} /> },
          { label: t('pilets.uploaded'), value: <Time at={version.createdAt} /> },
          { label: t('pilets.changed'), value: <Time at={version.updatedAt} /> },
        ]}
      />
    </Section>
  )
}
