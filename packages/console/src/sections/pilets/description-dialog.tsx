// Edits the description of a version.
import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useProject } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { piletDescribeDocument } from '../../generated/documents.ts'
import { TextField } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { PiletVersion } from './pilet-types.ts'

type DescriptionDialogProps = { version: PiletVersion; onClose: () => void }

export function DescriptionDialog({ version, onClose }: DescriptionDialogProps): ReactNode {
  const t = useText()
  const { id: project } = useProject()
  const [base] = useState(version)
  const [description, setDescription] = useState(base.description)
  const { send, isPending, failure } = useSubmit(piletDescribeDocument)
  const { name, revision } = base
  return (
    <FormDialog
      title={t('pilets.describeTitle', name, base.version)}
      submitText={t('kit.save')}
      isDirty={description !== base.description}
      isPending={isPending}
      failure={failure}
      fieldNames={['description']}
      onSubmit={() =>
        send({ project, name, version: base.version, description, revision }, () => {
          showToast(t('app.saved', `${name} ${base.version}`))
          onClose()
        })
      }
      onClose={onClose}
    >
      <TextField
        name="description"
        label={t('pilets.description')}
        hint={t('pilets.descriptionHint')}
        value={description}
        onChange={setDescription}
        lines={4}
        hasAutoFocus
      />
    </FormDialog>
  )
}
