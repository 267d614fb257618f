// Replaces the credential of a machine user, and then shows the new one once.
import { type ReactNode, useState } from 'react'
import { useSecretChange } from '../../api/secret-change.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { OneTimeSecret } from '../../app/one-time-secret.tsx'
import { machineUserRotateDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { InEnvironment } from './in-environment.tsx'
import { type MachineUser, isBasic } from './machine-user-types.ts'

type RotateDialogProps = { user: MachineUser; onClose: () => void }

export function RotateDialog({ user, onClose }: RotateDialogProps): ReactNode {
  const t = useText()
  // Keep the revision that the person saw first, even if the machine user is read again.
  const [base] = useState(user)
  const { send, secret, isPending, failure, forget } = useSecretChange(
    machineUserRotateDocument,
    ({ rotateMachineUserToken: { generatedToken, machineUser } }) => ({
      text: generatedToken,
      at: machineUser.lastRotatedAt,
    }),
  )
  if (secret !== null)
    return (
      <RotatedSecret
        user={base}
        secret={secret.text}
        rotatedAt={secret.at}
        onClose={() => {
          forget()
          onClose()
        }}
      />
    )
  const { environment, lastUsedAt } = base
  // Closing the dialog now would lose the new credential.
  const close = isPending ? () => {} : onClose
  return (
    <Dialog
      title={
        isBasic(base)
          ? t('machineUsers.rotatePasswordTitle', base.name)
          : t('machineUsers.rotateTitle', base.name)
      }
      icon="key"
      isOpen
      onClose={close}
      foot={
        <>
          <Button onPress={close}>{t('kit.cancel')}</Button>
          <Button
            variant="primary"
            isPending={isPending}
            onPress={() => send({ id: base.id, revision: base.revision })}
          >
            {isBasic(base) ? t('machineUsers.rotatePassword') : t('machineUsers.rotate')}
          </Button>
        </>
      }
    >
      <InEnvironment environment={environment}>{t('machineUsers.rotateHint')}</InEnvironment>
      <p className="secondary">
        {t('machineUsers.lastUsed')} <Time at={lastUsedAt} />
      </p>
      <ChangeFailure failure={failure} onReload={onClose} />
    </Dialog>
  )
}

type RotatedSecretProps = {
  user: MachineUser
  secret: string
  rotatedAt: string | null
  onClose: () => void
}

function RotatedSecret({ user, secret, rotatedAt, onClose }: RotatedSecretProps): ReactNode {
  const t = useText()
  const { exact } = useFormat()
  const { name, username, environment } = user
  return (
    <OneTimeSecret
      title={isBasic(user) ? t('machineUsers.passwordTitle', name) : t('machineUsers.tokenTitle', name)}
      label={isBasic(user) ? t('machineUsers.password') : t('machineUsers.token')}
      secret={secret}
      hint={
        <InEnvironment environment={environment}>
          {rotatedAt !== null && t('machineUsers.oldStopped', exact(rotatedAt))}{' '}
          {isBasic(user) ? t('machineUsers.givePassword', username) : t('machineUsers.giveToken')}
        </InEnvironment>
      }
      onClose={onClose}
    />
  )
}
