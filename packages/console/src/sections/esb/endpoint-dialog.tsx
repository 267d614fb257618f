// Creates or edits an endpoint. The template has its own page, because it needs a preview.
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { useSecretChange } from '../../api/secret-change.ts'
import { useOnlyApplication } from '../../app/applications.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { ApplicationPicker } from '../../app/object-pickers.tsx'
import { esbCreateEndpointDocument, esbUpdateEndpointDocument } from '../../generated/documents.ts'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { EndpointFields } from './endpoint-fields.tsx'
import { readEndpointValues, toEndpointInput } from './endpoint-input.ts'
import type { Endpoint } from './endpoint-types.ts'

type EndpointDialogProps = {
  /** Null for a new endpoint. */
  endpoint: Endpoint | null
  /** The application of a new endpoint, if it is known. */
  applicationId?: string | null
  onClose: () => void
  onSaved: (id: string) => void
}

const fieldNames = [
  'name',
  'description',
  'consumeURL',
  'url',
  'authUsername',
  'authPassword',
  'authToken',
] as const

/** Saves the form. The values can contain secrets, so they must not enter the cache. */
function useSave(isNew: boolean, onSaved: (saved: { id: string; name: string }) => void) {
  const create = useSecretChange(esbCreateEndpointDocument, ({ endpoint }) => endpoint)
  const update = useSecretChange(esbUpdateEndpointDocument, ({ endpoint }) => endpoint)
  const { secret: saved, isPending, failure } = isNew ? create : update
  const report = useEffectEvent(onSaved)
  useEffect(() => {
    if (saved !== null) report(saved)
  }, [saved])
  return { create: create.send, update: update.send, isPending, failure }
}

export function EndpointDialog({
  endpoint,
  applicationId: initialApplicationId = null,
  onClose,
  onSaved,
}: EndpointDialogProps): ReactNode {
  const t = useText()
  // The form keeps the values and the revision that the person saw first, even if the endpoint is read again.
  const [base] = useState(endpoint)
  const [initial] = useState(() => readEndpointValues(endpoint))
  const [values, setValues] = useState(initial)
  const onlyId = useOnlyApplication()
  const [chosenId, setApplicationId] = useState(initialApplicationId)
  const applicationId = chosenId ?? onlyId
  const { create, update, isPending, failure } = useSave(base === null, ({ id, name }) => {
    showToast(base === null ? t('app.created', name) : t('app.saved', name))
    onSaved(id)
  })
  const save = (): void => {
    const input = toEndpointInput(values, base)
    if (base !== null) update({ id: base.id, input: { ...input, expectedRevision: base.revision } })
    else if (applicationId !== null) create({ application: applicationId, input })
  }
  return (
    <FormDialog
      title={base === null ? t('esb.new') : t('esb.editTitle', base.name)}
      width={640}
      submitText={base === null ? t('kit.create') : t('kit.save')}
      disabledReason={base === null && applicationId === null ? t('esb.chooseApplication') : null}
      isDirty={JSON.stringify(values) !== JSON.stringify(initial)}
      isPending={isPending}
      failure={failure}
      fieldNames={fieldNames}
      onSubmit={save}
      onClose={onClose}
    >
      {base === null && (
        <ApplicationPicker
          label={t('esb.application')}
          isRequired
          id={applicationId}
          onChange={setApplicationId}
        />
      )}
      <EndpointFields
        values={values}
        stored={base}
        onChange={(changes) => setValues({ ...values, ...changes })}
      />
    </FormDialog>
  )
}
