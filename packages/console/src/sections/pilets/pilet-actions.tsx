// Buttons that change a version, at the bottom of its panel.
import { type ReactNode, useState } from 'react'
import { useChange } from '../../api/requests.ts'
import { useMay, useProject } from '../../app/project.tsx'
import { useFailureToast } from '../../app/use-failure-toast.ts'
import { piletEnableDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { DisableVersion } from './disable-version.tsx'
import type { PiletVersion } from './pilet-types.ts'
import { PinDialog } from './pin-dialog.tsx'

export function PiletActions({ version }: { version: PiletVersion }): ReactNode {
  const t = useText()
  const [dialog, setDialog] = useState<'disable' | 'pin' | null>(null)
  const close = (): void => setDialog(null)
  const canEnable = useMay('pilets.enable')
  const canDisable = useMay('pilets.disable')
  const canPin = useMay('pilets.pin')
  const canToggle = version.enabled ? canDisable : canEnable
  if (!canToggle && !canPin)
    return <span className="muted">{canDisable ? t('pilets.askToEnable') : t('pilets.readOnly')}</span>
  return (
    <>
      {canToggle && <Toggle version={version} onDisable={() => setDialog('disable')} />}
      {canPin && (
        <Button action="pilets.pin" onPress={() => setDialog('pin')}>
          {t('pilets.pin')}
        </Button>
      )}
      {dialog === 'disable' && <DisableVersion version={version} onClose={close} />}
      {dialog === 'pin' && <PinDialog version={version} onClose={close} />}
    </>
  )
}

type ToggleProps = { version: PiletVersion; onDisable: () => void }

/** One button in both states, so that it keeps the focus. */
function Toggle({ version: { name, version, enabled, revision }, onDisable }: ToggleProps): ReactNode {
  const t = useText()
  const { id: project } = useProject()
  const { mutate, isPending } = useChange(piletEnableDocument)
  const onError = useFailureToast()
  const enable = (): void =>
    mutate(
      { project, name, version, revision },
      { onError, onSuccess: () => showToast(t('pilets.wasEnabled', name, version)) },
    )
  return (
    <Button
      action={enabled ? 'pilets.disable' : 'pilets.enable'}
      isPending={isPending}
      onPress={() => {
        if (enabled) onDisable()
        else if (!isPending) enable()
      }}
    >
      {enabled ? t('pilets.disable') : t('pilets.enable')}
    </Button>
  )
}
