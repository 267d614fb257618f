// Creates or edits a trigger.
import { type ReactNode, useState } from 'react'
import { useOnlyApplication } from '../../app/applications.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useListSearch } from '../../app/list-search.ts'
import { ApplicationPicker } from '../../app/object-pickers.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { triggerCreateDocument, triggerUpdateDocument } from '../../generated/documents.ts'
import { Switch, TextField } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { ScheduleField } from './schedule-field.tsx'
import type { Trigger } from './trigger-types.ts'

type TriggerDialogProps = {
  /** Null for a new trigger. */
  trigger: Trigger | null
  onClose: () => void
  onSaved: (id: string) => void
}

const readValues = (trigger: Trigger | null) => ({
  name: trigger?.name ?? '',
  description: trigger?.description ?? '',
  cronExpression: trigger?.cronExpression ?? '',
  runKey: trigger?.runKey ?? '',
  enabled: trigger?.enabled ?? true,
})
type Values = ReturnType<typeof readValues>

export function TriggerDialog({ trigger, onClose, onSaved }: TriggerDialogProps): ReactNode {
  const t = useText()
  // The form keeps the values and the revision that the person saw first, even if the trigger is read again.
  const [base] = useState(trigger)
  const listed = useListSearch().search['application'] ?? null
  const onlyId = useOnlyApplication()
  const [chosenId, setApplicationId] = useState(listed)
  const applicationId = chosenId ?? onlyId
  const [values, setValues] = useState(readValues(trigger))
  const create = useSubmit(triggerCreateDocument)
  const update = useSubmit(triggerUpdateDocument)
  const { isPending, failure } = base === null ? create : update
  const save = (): void => {
    if (base !== null) {
      const { name, description, cronExpression, runKey } = values
      update.send(
        {
          id: base.id,
          input: { name, description, cronExpression, runKey, expectedRevision: base.revision },
        },
        ({ updateTrigger: saved }) => {
          showToast(t('app.saved', saved.name))
          onSaved(saved.id)
        },
      )
    } else if (applicationId !== null)
      create.send({ application: applicationId, input: values }, ({ createTrigger: { id, name } }) => {
        showToast(t('app.created', name))
        onSaved(id)
      })
  }
  return (
    <FormDialog
      title={base === null ? t('triggers.new') : t('triggers.editTitle', base.name)}
      width={640}
      submitText={base === null ? t('kit.create') : t('kit.save')}
      disabledReason={base === null && applicationId === null ? t('triggers.noApplication') : null}
      isDirty={JSON.stringify(values) !== JSON.stringify(readValues(base)) || chosenId !== listed}
      isPending={isPending}
      failure={failure}
      fieldNames={['name', 'description', 'cronExpression', 'runKey']}
      onSubmit={save}
      onClose={onClose}
    >
      {base === null && (
        <ApplicationPicker
          label={t('triggers.application')}
          isRequired
          id={applicationId}
          onChange={setApplicationId}
        />
      )}
      <Fields
        values={values}
        isNew={base === null}
        onChange={(changes) => setValues({ ...values, ...changes })}
      />
    </FormDialog>
  )
}

type FieldsProps = { values: Values; isNew: boolean; onChange: (changes: Partial<Values>) => void }

function Fields({ values, isNew, onChange }: FieldsProps): ReactNode {
  const t = useText()
  return (
    <>
      <TextField
        name="name"
        label={t('triggers.name')}
        value={values.name}
        onChange={(name) => onChange({ name })}
        isRequired
        hasAutoFocus
      />
      {/* Above the optional fields, so that the next runs are visible while the person types. */}
      <ScheduleField
        expression={values.cronExpression}
        onChange={(cronExpression) => onChange({ cronExpression })}
      />
      <TextField
        name="runKey"
        label={t('triggers.runKey')}
        hint={t('triggers.runKeyHint')}
        value={values.runKey}
        onChange={(runKey) => onChange({ runKey })}
        isMono
      />
      <TextField
        name="description"
        label={t('triggers.description')}
        value={values.description}
        onChange={(description) => onChange({ description })}
        lines={2}
      />
      {isNew && (
        <Switch
          label={t('triggers.enabledLabel')}
          isSelected={values.enabled}
          onChange={(enabled) => onChange({ enabled })}
        />
      )}
    </>
  )
}
