import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { machineUserUpdateDocument } from '../../generated/documents.ts'
import { TextField } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { MachineUser } from './machine-user-types.ts'

export function RenameDialog({ user, onClose }: { user: MachineUser; onClose: () => void }): ReactNode {
  const t = useText()
  // Keep the name and the revision that the person saw first, even if the machine user is read again.
  const [base] = useState(user)
  const [name, setName] = useState(user.name)
  const { send, isPending, failure } = useSubmit(machineUserUpdateDocument)
  return (
    <FormDialog
      title={t('machineUsers.renameTitle', base.name)}
      submitText={t('kit.save')}
      isDirty={name !== base.name}
      isPending={isPending}
      failure={failure}
      fieldNames={['name']}
      onSubmit={() =>
        send({ id: base.id, input: { name, expectedRevision: base.revision } }, ({ updateMachineUser }) => {
          showToast(t('app.saved', updateMachineUser.name))
          onClose()
        })
      }
      onClose={onClose}
    >
      <TextField
        name="name"
        label={t('machineUsers.name')}
        value={name}
        onChange={setName}
        isRequired
        hasAutoFocus
      />
    </FormDialog>
  )
}
