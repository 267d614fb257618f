// Creates or edits a tenant.
import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { NameSlugFields } from '../../app/name-slug-fields.tsx'
import { useProject } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { tenantCreateDocument, tenantUpdateDocument } from '../../generated/documents.ts'
import { Select } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Tenant } from './tenant-types.ts'

type TenantDialogProps = {
  /** Null for a new tenant. */
  tenant: Tenant | null
  onClose: () => void
  onSaved: (id: string) => void
}

export function TenantDialog({ tenant, onClose, onSaved }: TenantDialogProps): ReactNode {
  const t = useText()
  const project = useProject()
  // The form keeps the values and the revision that the person saw first, even if the tenant is read again.
  const [base] = useState(tenant)
  const [values, setValues] = useState(readValues(tenant))
  const create = useSubmit(tenantCreateDocument)
  const update = useSubmit(tenantUpdateDocument)
  const { isPending, failure } = base === null ? create : update
  const change = (changes: Partial<typeof values>): void => setValues({ ...values, ...changes })
  const save = (): void => {
    if (base === null)
      create.send({ project: project.id, input: values }, ({ createTenant: { id, name } }) => {
        showToast(t('app.created', name))
        onSaved(id)
      })
    else
      update.send(
        { id: base.id, input: { ...values, expectedRevision: base.revision } },
        ({ updateTenant: { id, name } }) => {
          showToast(t('app.saved', name))
          onSaved(id)
        },
      )
  }
  return (
    <FormDialog
      title={base === null ? t('tenants.new') : t('tenants.editTitle', base.name)}
      submitText={base === null ? t('kit.create') : t('kit.save')}
      isDirty={JSON.stringify(values) !== JSON.stringify(readValues(base))}
      isPending={isPending}
      failure={failure}
      fieldNames={['name', 'slug', 'deploymentMode']}
      onSubmit={save}
      onClose={onClose}
    >
      <NameSlugFields values={values} isNew={base === null} nameLabel={t('tenants.name')} onChange={change} />
      <Select
        name="deploymentMode"
        label={t('tenants.mode')}
        value={values.deploymentMode}
        options={[
          { id: 'shared', text: t('tenants.modeShared') },
          { id: 'dedicated', text: t('tenants.modeDedicated') },
        ]}
        onChange={(deploymentMode) => change({ deploymentMode })}
      />
    </FormDialog>
  )
}

const readValues = (tenant: Tenant | null) => ({
  name: tenant?.name ?? '',
  slug: tenant?.slug ?? '',
  deploymentMode: tenant?.deploymentMode ?? 'shared',
})
