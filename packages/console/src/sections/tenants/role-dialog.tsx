// Creates or edits a role definition of a tenant.
import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { tenantRoleCreateDocument, tenantRoleUpdateDocument } from '../../generated/documents.ts'
import { Check, TextField } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Role, Tenant } from './tenant-types.ts'

const permissions = [
  ['apps.read', 'tenants.permissionAppsRead'],
  ['apps.configure', 'tenants.permissionAppsConfigure'],
  ['members', 'tenants.permissionMembers'],
  ['invites', 'tenants.permissionInvites'],
] as const

type RoleDialogProps = {
  tenant: Tenant
  /** Null for a new role. */
  existing: Role | null
  onClose: () => void
}

const readValues = (role: Role | null) => ({
  name: role?.name ?? '',
  permissions: role?.permissions ?? ['apps.read'],
})

export function RoleDialog({ tenant, existing, onClose }: RoleDialogProps): ReactNode {
  const t = useText()
  const [base] = useState(existing)
  const [values, setValues] = useState(readValues(existing))
  const create = useSubmit(tenantRoleCreateDocument)
  const update = useSubmit(tenantRoleUpdateDocument)
  const { isPending, failure } = base === null ? create : update
  const save = (): void => {
    const onSaved = (): void => {
      showToast(base === null ? t('app.created', values.name) : t('app.saved', values.name))
      onClose()
    }
    if (base === null) create.send({ tenant: tenant.id, input: values }, onSaved)
    else update.send({ id: base.id, input: { ...values, expectedRevision: base.revision } }, onSaved)
  }
  return (
    <FormDialog
      title={base === null ? t('tenants.newRole') : t('tenants.editRole', base.name)}
      submitText={base === null ? t('kit.create') : t('kit.save')}
      isDirty={JSON.stringify(values) !== JSON.stringify(readValues(base))}
      isPending={isPending}
      failure={failure}
      fieldNames={['name']}
      onSubmit={save}
      onClose={onClose}
    >
      <TextField
        name="name"
        label={t('tenants.name')}
        value={values.name}
        onChange={(name) => setValues({ ...values, name })}
        isReadOnly={base?.seeded ?? false}
        {...(base?.seeded === true ? { hint: t('tenants.seededHint') } : {})}
        isRequired
        hasAutoFocus
      />
      <fieldset className="choices">
        <legend className="label">{t('tenants.permissions')}</legend>
        {permissions.map(([id, text]) => (
          <Check
            key={id}
            isSelected={values.permissions.includes(id)}
            onChange={(isSelected) =>
              setValues({
                ...values,
                // The order of the API, so that the same choice always yields the same list.
                permissions: permissions
                  .map(([other]) => other)
                  .filter((other) => (other === id ? isSelected : values.permissions.includes(other))),
              })
            }
            label={
              <>
                {t(text)} <code className="muted">{id}</code>
              </>
            }
          />
        ))}
      </fieldset>
    </FormDialog>
  )
}
