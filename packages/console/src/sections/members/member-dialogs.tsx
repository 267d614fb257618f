// Dialogs that add a member, change a role and remove a member.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useChange } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { FormDialog } from '../../app/form-dialog.tsx'
import { type Person, PersonPicker } from '../../app/person-picker.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { type Kind, type Membership, operations } from './kinds.ts'
import { RoleChoice } from './role-choice.tsx'
import { useRoles } from './roles.ts'

const asFailure = (error: Error | null) =>
  error === null ? null : describeFailure(error, { isChange: true })

type AddProps = {
  kind: Kind
  object: { readonly id: string; readonly name: string }
  onClose: () => void
  onAdded: (userId: string) => void
}

export function AddMemberDialog({ kind, object, onClose, onAdded }: AddProps): ReactNode {
  const t = useText()
  const roles = useRoles(kind, object.id)
  const [person, setPerson] = useState<Person | null>(null)
  const [role, setRole] = useState<string | null>(null)
  const { mutate, error, isPending, reset } = useChange(operations[kind].add)
  const missing = person === null ? t('members.choosePerson') : t('members.chooseRole')
  return (
    <FormDialog
      title={t('members.addTo', object.name)}
      submitText={t('members.add')}
      disabledReason={person === null || role === null ? missing : null}
      isDirty={person !== null}
      isPending={isPending}
      failure={asFailure(error)}
      fieldNames={['userID', 'role', 'roleName']}
      onClose={onClose}
      onSubmit={() => {
        if (person === null || role === null) return
        mutate(
          { object: object.id, user: person.id, role },
          {
            onSuccess: () => {
              showToast(t('members.added', person.name, object.name, role))
              onAdded(person.id)
            },
          },
        )
      }}
    >
      <PersonPicker
        name="userID"
        value={person}
        onChange={(next) => {
          reset()
          setPerson(next)
        }}
      />
      <RoleChoice name={operations[kind].roleField} roles={roles} value={role} onChange={setRole} />
    </FormDialog>
  )
}

type MembershipProps = { membership: Membership; onClose: () => void }

export function ChangeRoleDialog({ membership, onClose }: MembershipProps): ReactNode {
  const { kind, id, object, person, revision } = membership
  const t = useText()
  const roles = useRoles(kind, object.id)
  const [role, setRole] = useState(membership.role)
  const { mutate, error, isPending } = useChange(operations[kind].change)
  const isFromGroup = membership.groupRuleId !== null
  // The role of a group can be given directly, so that it no longer depends on the group.
  const isSame = role === membership.role && !isFromGroup
  return (
    <FormDialog
      title={t('members.changeRoleOf', person.name, object.name)}
      submitText={t('members.changeRole')}
      disabledReason={isSame ? t('members.sameRole') : null}
      isDirty={role !== membership.role}
      isPending={isPending}
      failure={asFailure(error)}
      fieldNames={['role', 'roleName']}
      onClose={onClose}
      onSubmit={() =>
        mutate(
          { id, role, expectedRevision: revision },
          {
            onSuccess: () => {
              showToast(t('members.changed', person.name, object.name, role))
              onClose()
            },
          },
        )
      }
    >
      {isFromGroup && <Note tone="info">{t('members.groupChangeHint')}</Note>}
      <RoleChoice name={operations[kind].roleField} roles={roles} value={role} onChange={setRole} />
    </FormDialog>
  )
}

export function RemoveMemberDialog({ membership, onClose }: MembershipProps): ReactNode {
  const { kind, id, object, person, role, revision } = membership
  const t = useText()
  const { mutate, error, isPending } = useChange(operations[kind].remove)
  return (
    <DeleteDialog
      title={t('members.removeTitle', person.name, object.name)}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={asFailure(error)} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        mutate(
          { id, expectedRevision: revision },
          {
            onSuccess: () => {
              showToast(t('members.removed', person.name, object.name))
              onClose()
            },
          },
        )
      }
    >
      <p>{t(`members.lose.${kind}`, person.name, role, object.name)}</p>
    </DeleteDialog>
  )
}
