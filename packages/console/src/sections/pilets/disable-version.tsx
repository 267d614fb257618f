// Asks before a version is disabled, because pages that load it change with their next load.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useProject } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { piletDisableDocument, piletUsersDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { PiletVersion } from './pilet-types.ts'
import { useFeeds } from './use-feeds.ts'

type DisableVersionProps = { version: PiletVersion; onClose: () => void }

export function DisableVersion({ version, onClose }: DisableVersionProps): ReactNode {
  const t = useText()
  const { id: project } = useProject()
  const [base] = useState(version)
  const { send, isPending, failure } = useSubmit(piletDisableDocument)
  const { name, revision } = base
  const disable = (): void =>
    send({ project, name, version: base.version, revision }, () => {
      showToast(t('pilets.wasDisabled', name, base.version))
      onClose()
    })
  return (
    <Dialog
      title={t('pilets.disableTitle', name, base.version)}
      isOpen
      onClose={isPending ? () => {} : onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('kit.cancel')}</Button>
          <Button variant="primary" isPending={isPending} onPress={disable}>
            {t('pilets.disable')}
          </Button>
        </>
      }
    >
      <p>{t('pilets.disableConsequence')}</p>
      <Effects version={base} />
      <ChangeFailure failure={failure} onReload={onClose} />
    </Dialog>
  )
}

/** The applications that load the version, and the number of layers that pin it. */
function Effects({ version: { name, version } }: { version: PiletVersion }): ReactNode {
  const t = useText()
  const { list } = useFormat()
  const { id: project } = useProject()
  const applications = useFeeds()?.({ name, version })?.applications ?? []
  const usage = useRead(piletUsersDocument, { project, name }).data?.piletUsage
  const pins = usage?.entries.filter(({ pinnedVersion }) => pinnedVersion === version).length ?? 0
  return (
    <>
      {applications.length > 0 && <p>{t('pilets.disableLoaded', list(applications))}</p>}
      {pins > 0 && <Note tone="warn">{t('pilets.disablePinned', pins)}</Note>}
    </>
  )
}
