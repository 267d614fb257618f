// The dialog that creates a project.
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../api/failures.ts'
import { useChange } from '../api/requests.ts'
import { shellCreateProjectDocument } from '../generated/documents.ts'
import { showToast } from '../kit/toast.tsx'
import { useText } from '../texts/language.tsx'
import { FormDialog } from './form-dialog.tsx'
import { NameSlugFields } from './name-slug-fields.tsx'

export function CreateProjectDialog({ onClose }: { onClose: () => void }): ReactNode {
  const t = useText()
  const navigate = useNavigate()
  const [values, setValues] = useState({ name: '', slug: '' })
  const { name, slug } = values
  const change = useChange(shellCreateProjectDocument)
  const submit = (): void =>
    change.mutate(
      { input: values },
      {
        onSuccess: ({ createProject }) => {
          showToast(t('app.projectCreated', createProject.name))
          onClose()
          void navigate({ to: '/p/$project/overview', params: { project: createProject.slug } })
        },
      },
    )
  return (
    <FormDialog
      title={t('app.createProject')}
      submitText={t('kit.create')}
      disabledReason={name.trim() === '' || slug === '' ? t('app.projectNeedsName') : null}
      isDirty={name !== '' || slug !== ''}
      isPending={change.isPending}
      failure={change.error === null ? null : describeFailure(change.error, { isChange: true })}
      fieldNames={['name', 'slug']}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameSlugFields
        values={values}
        isNew
        nameLabel={t('app.projectName')}
        slugHint={t('app.projectSlugHint')}
        onChange={(changes) => setValues({ ...values, ...changes })}
      />
    </FormDialog>
  )
}
