// Creates or edits an application.
import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { NameSlugFields } from '../../app/name-slug-fields.tsx'
import { useProject } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { applicationCreateDocument, applicationUpdateDocument } from '../../generated/documents.ts'
import { TextField } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Application } from './application-types.ts'

type ApplicationDialogProps = {
  /** Null for a new application. */
  application: Application | null
  onClose: () => void
  onSaved: (id: string) => void
}

const readValues = (application: Application | null) => ({
  name: application?.name ?? '',
  slug: application?.slug ?? '',
  description: application?.description ?? '',
})

export function ApplicationDialog({ application, onClose, onSaved }: ApplicationDialogProps): ReactNode {
  const t = useText()
  const project = useProject()
  // The form keeps the values and the revision that the person saw first, even if the application is read again.
  const [base] = useState(application)
  const [values, setValues] = useState(readValues(application))
  const create = useSubmit(applicationCreateDocument)
  const update = useSubmit(applicationUpdateDocument)
  const { isPending, failure } = base === null ? create : update
  const change = (changes: Partial<typeof values>): void => setValues({ ...values, ...changes })
  const save = (): void => {
    if (base === null)
      create.send({ project: project.id, input: values }, ({ createApplication: { id, name } }) => {
        showToast(t('app.created', name))
        onSaved(id)
      })
    else
      update.send(
        { id: base.id, input: { ...values, expectedRevision: base.revision } },
        ({ updateApplication: { id, name } }) => {
          showToast(t('app.saved', name))
          onSaved(id)
        },
      )
  }
  return (
    <FormDialog
      title={base === null ? t('applications.new') : t('applications.editTitle', base.name)}
      submitText={base === null ? t('kit.create') : t('kit.save')}
      isDirty={JSON.stringify(values) !== JSON.stringify(readValues(base))}
      isPending={isPending}
      failure={failure}
      fieldNames={['name', 'slug', 'description']}
      onSubmit={save}
      onClose={onClose}
    >
      <NameSlugFields
        values={values}
        isNew={base === null}
        nameLabel={t('applications.name')}
        onChange={change}
      />
      <TextField
        name="description"
        label={t('applications.description')}
        value={values.description}
        onChange={(description) => change({ description })}
        lines={3}
      />
    </FormDialog>
  )
}
