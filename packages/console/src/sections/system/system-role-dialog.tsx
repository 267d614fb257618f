// Grants or revokes the administrator role.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { changeSystemRoleDocument, systemAdministratorsDocument } from '../../generated/documents.ts'
import { Note } from '../../kit/note.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { namePerson } from '../../app/person-name.ts'
import { RoleChoice } from '../members/role-choice.tsx'
import { useMe } from '../members/roles.ts'
import type { User } from './system-types.ts'

const systemRoles = ['administrator', 'user'] as const

export function SystemRoleDialog({ user, onClose }: { user: User; onClose: () => void }): ReactNode {
  const t = useText()
  const me = useMe()
  // Keep the role and the revision that the person saw first, even if the user is read again.
  const [base] = useState(user)
  const [role, setRole] = useState(base.role)
  const { send, isPending, failure } = useSubmit(changeSystemRoleDocument)
  const administrators = useRead(systemAdministratorsDocument, {}).data?.usersConnection.totalCount
  const name = namePerson(base)
  const isSame = role === base.role
  const isLast = base.role === 'administrator' && administrators === 1
  return (
    <FormDialog
      title={t('system.changeRoleOf', name)}
      submitText={t('system.changeRole')}
      disabledReason={isSame ? t('members.sameRole') : null}
      isDirty={!isSame}
      isPending={isPending}
      failure={failure}
      fieldNames={['role']}
      onClose={onClose}
      onSubmit={() =>
        send({ id: base.id, role, expectedRevision: base.revision }, () => {
          showToast(t('system.roleChanged', name, role))
          onClose()
        })
      }
    >
      <RoleChoice
        name="role"
        roles={systemRoles.map((id) => ({
          name: id,
          hint: t(`system.role.${id}`),
          problem: id === 'user' && isLast ? t('system.lastAdministrator') : null,
        }))}
        value={role}
        onChange={setRole}
      />
      {base.id === me.id && role === 'user' && <Note tone="warn">{t('system.ownRoleHint')}</Note>}
    </FormDialog>
  )
}
