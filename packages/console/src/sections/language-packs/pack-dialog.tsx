// Creates an empty language pack.
import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useProject } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { packCreateDocument } from '../../generated/documents.ts'
import { TextField } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'

type PackDialogProps = { onClose: () => void; onCreated: (id: string) => void }

export function PackDialog({ onClose, onCreated }: PackDialogProps): ReactNode {
  const t = useText()
  const project = useProject()
  const [name, setName] = useState('')
  const { send, isPending, failure } = useSubmit(packCreateDocument)
  return (
    <FormDialog
      title={t('languagePacks.new')}
      submitText={t('kit.create')}
      disabledReason={name.trim() === '' ? t('languagePacks.needsLocale') : null}
      isDirty={name !== ''}
      isPending={isPending}
      failure={failure}
      fieldNames={['name']}
      onSubmit={() =>
        send({ project: project.id, input: { name: name.trim() } }, ({ createLanguagePack: pack }) => {
          showToast(t('app.created', pack.name))
          onCreated(pack.id)
        })
      }
      onClose={onClose}
    >
      <TextField
        name="name"
        label={t('languagePacks.locale')}
        hint={t('languagePacks.localeHint')}
        isRequired
        isMono
        value={name}
        onChange={setName}
        hasAutoFocus
      />
    </FormDialog>
  )
}
