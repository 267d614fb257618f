// The settings layers that enable a pilet or pin one of its versions.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useCan, useMay, useProject } from '../../app/project.tsx'
import { useFailureToast } from '../../app/use-failure-toast.ts'
import { piletUsersDocument } from '../../generated/documents.ts'
import { Badge, Status } from '../../kit/badge.tsx'
import { IconButton } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { Section, SectionRow, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { PiletVersion, UsageEntry } from './pilet-types.ts'
import { findPinTarget, toLayer, usePinChange } from './pins.ts'

export function PiletUsage({ version }: { version: PiletVersion }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { id: project } = useProject()
  const { data, error, refetch } = useRead(piletUsersDocument, { project, name: version.name })
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  const { entries, isComplete } = data.piletUsage
  const enabling = entries.filter(({ isEnabled }) => isEnabled)
  const pinning = entries.filter(({ pinnedVersion }) => pinnedVersion !== null)
  const more = isComplete ? '' : '+'
  return (
    <>
      {!isComplete && <Note tone="info">{t('pilets.usagePartial', number(entries.length))}</Note>}
      <Section title={t('pilets.enabledIn')} note={number(enabling.length) + more}>
        {enabling.length === 0 && <SectionText>{t('pilets.notEnabledAnywhere')}</SectionText>}
        {enabling.map((entry) => (
          <SectionRow key={toKey(entry)} end={<Status kind="ok">{t('pilets.enabled')}</Status>}>
            <Layer entry={entry} />
          </SectionRow>
        ))}
        <SectionText>{t('pilets.enabledInHint')}</SectionText>
      </Section>
      <Section title={t('pilets.pinnedIn')} note={number(pinning.length) + more}>
        {pinning.length === 0 && <SectionText>{t('pilets.notPinnedAnywhere')}</SectionText>}
        {pinning.map((entry) => (
          <PinRow key={toKey(entry)} name={version.name} version={version.version} entry={entry} />
        ))}
      </Section>
    </>
  )
}

const toKey = ({ layer, tenant, application }: UsageEntry): string =>
  `${layer} ${tenant?.id ?? ''} ${application?.id ?? ''}`

const layerTexts = {
  project: 'settings.layer.project',
  application: 'settings.layer.application',
  tenant: 'settings.layer.tenant',
  tenant2application: 'settings.layer.tenant2application',
} as const
const isKnown = (layer: string): layer is keyof typeof layerTexts => Object.hasOwn(layerTexts, layer)

/** Names a layer, and links to its settings. */
function Layer({ entry: { layer, tenant, application } }: { entry: UsageEntry }): ReactNode {
  const t = useText()
  const { slug, name } = useProject()
  const canOpen = useCan('SETTINGS_READ')
  const names = [tenant?.name, application?.name].filter((text) => text !== undefined)
  const title = names.length === 0 ? name : names.join(' × ')
  return (
    <>
      {canOpen ? (
        <Link
          className="truncate"
          to="/p/$project/settings"
          params={{ project: slug }}
          search={{ tenant: tenant?.id, application: application?.id } as never}
        >
          {title}
        </Link>
      ) : (
        <span className="truncate">{title}</span>
      )}
      <span className="muted pilets-layer">{isKnown(layer) ? t(layerTexts[layer]) : layer}</span>
    </>
  )
}

type PinRowProps = { name: string; version: string; entry: UsageEntry }

function PinRow({ name, version, entry }: PinRowProps): ReactNode {
  const t = useText()
  const canPin = useMay('pilets.pin')
  const { id: project } = useProject()
  const { mutateAsync, isPending } = usePinChange()
  const onError = useFailureToast()
  const title = entry.tenant?.name ?? entry.application?.name ?? ''
  const unpin = async (): Promise<void> => {
    if (isPending) return
    try {
      const target = await findPinTarget(project, toLayer(entry))
      await mutateAsync({ target, name, version: null })
      showToast(t('pilets.wasUnpinned', name, title))
    } catch (error) {
      onError(error)
    }
  }
  return (
    <SectionRow
      end={
        <>
          <Badge tone={entry.pinnedVersion === version ? 'accent' : 'outline'}>{entry.pinnedVersion}</Badge>
          {canPin && (
            <IconButton
              icon="delete"
              size="small"
              action="pilets.pin"
              label={t('pilets.unpin', title)}
              onPress={() => void unpin()}
            />
          )}
        </>
      }
    >
      <Layer entry={entry} />
    </SectionRow>
  )
}
