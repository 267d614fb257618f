// Buttons that change a machine user, at the bottom of its panel.
import { type ReactNode, useState } from 'react'
import { useChange } from '../../api/requests.ts'
import { useMay } from '../../app/project.tsx'
import { useFailureToast } from '../../app/use-failure-toast.ts'
import { machineUserUpdateDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { DisableDialog } from './disable-dialog.tsx'
import { DeleteMachineUser } from './machine-user-delete.tsx'
import { type MachineUser, isBasic } from './machine-user-types.ts'
import { RotateDialog } from './rotate-dialog.tsx'

type MachineUserActionsProps = { user: MachineUser; onDeleted: () => void }

export function MachineUserActions({ user, onDeleted }: MachineUserActionsProps): ReactNode {
  const t = useText()
  const [dialog, setDialog] = useState<'rotate' | 'disable' | 'delete' | null>(null)
  const close = (): void => setDialog(null)
  const canRotate = useMay('machineUsers.rotate')
  const canToggle = useMay('machineUsers.toggle')
  const canDelete = useMay('machineUsers.delete')
  if (!canRotate && !canToggle && !canDelete)
    return <span className="muted">{t('machineUsers.readOnly')}</span>
  return (
    <>
      {canRotate && (
        <Button action="machineUsers.rotate" onPress={() => setDialog('rotate')}>
          {isBasic(user) ? t('machineUsers.rotatePassword') : t('machineUsers.rotate')}
        </Button>
      )}
      {canToggle && <Toggle user={user} onDisable={() => setDialog('disable')} />}
      <span className="side-panel-foot-end">
        {canDelete && (
          <Button
            variant="quietDanger"
            icon="delete"
            action="machineUsers.delete"
            onPress={() => setDialog('delete')}
          >
            {t('kit.delete')}
          </Button>
        )}
      </span>
      {dialog === 'rotate' && <RotateDialog user={user} onClose={close} />}
      {dialog === 'disable' && <DisableDialog user={user} onClose={close} />}
      {dialog === 'delete' && (
        <DeleteMachineUser
          user={user}
          onClose={close}
          onDeleted={onDeleted}
          onDisable={() => setDialog('disable')}
        />
      )}
    </>
  )
}

/** One button in both states, so that it keeps the focus. Enabling needs no confirmation, because it breaks nothing. */
function Toggle({ user, onDisable }: { user: MachineUser; onDisable: () => void }): ReactNode {
  const t = useText()
  const { mutate, isPending } = useChange(machineUserUpdateDocument)
  const onError = useFailureToast()
  const enable = (): void =>
    mutate(
      { id: user.id, input: { enabled: true, expectedRevision: user.revision } },
      { onError, onSuccess: () => showToast(t('machineUsers.wasEnabled', user.name)) },
    )
  return (
    <Button action="machineUsers.toggle" isPending={isPending} onPress={user.enabled ? onDisable : enable}>
      {user.enabled ? t('machineUsers.disable') : t('machineUsers.enable')}
    </Button>
  )
}
