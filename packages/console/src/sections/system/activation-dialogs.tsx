// Deactivates a person, and lifts the deactivation.
import { type ReactNode, useState } from 'react'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { FormDialog } from '../../app/form-dialog.tsx'
import { namePerson } from '../../app/person-name.ts'
import { useSubmit } from '../../app/use-submit.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { deactivatePersonDocument, reactivatePersonDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { useMe } from '../members/roles.ts'
import type { User } from './system-types.ts'

/** Whether an administrator can lift a deactivation: their own, or that of an identity provider that no longer manages the person. */
const canReactivate = (user: User): boolean =>
  user.deactivatedByAdministratorAt !== null || (!user.active && !user.provisioned)

/** The button that deactivates the person or lifts the deactivation. */
export function ActivationButton({ user }: { user: User }): ReactNode {
  const t = useText()
  const me = useMe()
  const mayDeactivate = useSystemMay('users.deactivate')
  const mayReactivate = useSystemMay('users.reactivate')
  const [asked, setAsked] = useState<'deactivate' | 'reactivate' | null>(null)
  const close = (): void => setAsked(null)
  const isReactivation = canReactivate(user)
  return (
    <>
      {isReactivation && mayReactivate && (
        <Button action="users.reactivate" onPress={() => setAsked('reactivate')}>
          {t('system.reactivate')}
        </Button>
      )}
      {!isReactivation && mayDeactivate && (
        <Button
          action="users.deactivate"
          disabledReason={user.id === me.id ? t('system.ownDeactivation') : null}
          onPress={() => setAsked('deactivate')}
        >
          {t('system.deactivate')}
        </Button>
      )}
      {asked === 'deactivate' && <DeactivateDialog user={user} onClose={close} />}
      {asked === 'reactivate' && <ReactivateDialog user={user} onClose={close} />}
    </>
  )
}

type ActivationDialogProps = { user: User; onClose: () => void }

function DeactivateDialog({ user, onClose }: ActivationDialogProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(deactivatePersonDocument)
  const name = namePerson(user)
  return (
    <DeleteDialog
      title={t('system.deactivateTitle', name)}
      submitText={t('system.deactivate')}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: user.id, expectedRevision: user.revision }, () => {
          showToast(t('system.deactivatedToast', name))
          onClose()
        })
      }
    >
      <p>{t('system.deactivateHint')}</p>
      <p>{t('system.deactivateKeeps')}</p>
      {user.provisioned && <Note tone="info">{t('system.deactivateScimHint')}</Note>}
    </DeleteDialog>
  )
}

function ReactivateDialog({ user, onClose }: ActivationDialogProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(reactivatePersonDocument)
  const name = namePerson(user)
  const staysInactive = user.provisioned && user.deactivatedByScimAt !== null
  return (
    <FormDialog
      title={t('system.reactivateTitle', name)}
      submitText={t('system.reactivate')}
      isDirty={false}
      isPending={isPending}
      failure={failure}
      onClose={onClose}
      onSubmit={() =>
        send({ id: user.id, expectedRevision: user.revision }, () => {
          showToast(t(staysInactive ? 'system.liftedToast' : 'system.reactivatedToast', name))
          onClose()
        })
      }
    >
      {staysInactive ? (
        <Note tone="warn">{t('system.reactivateScimHint')}</Note>
      ) : (
        <p>{t('system.reactivateHint')}</p>
      )}
    </FormDialog>
  )
}
