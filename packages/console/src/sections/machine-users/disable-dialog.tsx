import { type ReactNode, useState } from 'react'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { machineUserUpdateDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { InEnvironment } from './in-environment.tsx'
import type { MachineUser } from './machine-user-types.ts'

/** Asks before a machine user is disabled, because its callers fail immediately. */
export function DisableDialog({ user, onClose }: { user: MachineUser; onClose: () => void }): ReactNode {
  const t = useText()
  const [base] = useState(user)
  const { send, isPending, failure } = useSubmit(machineUserUpdateDocument)
  return (
    <Dialog
      title={t('machineUsers.disableTitle', base.name)}
      isOpen
      onClose={isPending ? () => {} : onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('kit.cancel')}</Button>
          <Button
            variant="primary"
            isPending={isPending}
            onPress={() =>
              send({ id: base.id, input: { enabled: false, expectedRevision: base.revision } }, () => {
                showToast(t('machineUsers.wasDisabled', base.name))
                onClose()
              })
            }
          >
            {t('machineUsers.disable')}
          </Button>
        </>
      }
    >
      <InEnvironment environment={base.environment}>{t('machineUsers.disableHint')}</InEnvironment>
      <ChangeFailure failure={failure} onReload={onClose} />
    </Dialog>
  )
}
