// Adds a person from the directory to a tenant.
import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { type Person, PersonPicker } from '../../app/person-picker.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { tenantMemberAddDocument } from '../../generated/documents.ts'
import { Select } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Tenant } from './tenant-types.ts'

type AddMemberProps = { tenant: Tenant; roleNames: readonly string[]; onClose: () => void }

export function AddMember({ tenant, roleNames, onClose }: AddMemberProps): ReactNode {
  const t = useText()
  const [person, setPerson] = useState<Person | null>(null)
  const [role, setRole] = useState(roleNames.includes('member') ? 'member' : (roleNames[0] ?? ''))
  const { send, isPending, failure } = useSubmit(tenantMemberAddDocument)
  return (
    <FormDialog
      title={t('tenants.addMemberTitle', tenant.name)}
      submitText={t('tenants.addMember')}
      isDirty={person !== null}
      disabledReason={person === null ? t('tenants.addMemberFirst') : null}
      isPending={isPending}
      failure={failure}
      fieldNames={['userID', 'roleName']}
      onSubmit={() => {
        if (person === null) return
        send({ tenant: tenant.id, user: person.id, role }, () => {
          showToast(t('tenants.memberAdded', person.name, tenant.name))
          onClose()
        })
      }}
      onClose={onClose}
    >
      <PersonPicker name="userID" value={person} onChange={setPerson} />
      <Select
        name="roleName"
        label={t('tenants.role')}
        value={role}
        options={roleNames.map((name) => ({ id: name, text: name }))}
        onChange={setRole}
        isRequired
      />
    </FormDialog>
  )
}
