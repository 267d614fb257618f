// Dialogs that change the role of a rule and delete a rule.
import { type ReactNode, useState } from 'react'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { provisioningChangeRuleDocument, provisioningDeleteRuleDocument } from '../../generated/documents.ts'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { RoleChoice } from '../members/role-choice.tsx'
import { useAllRoles } from '../members/roles.ts'
import { type Rule, findRuleKind, findRuleObjectId, nameRuleObject } from './rules.tsx'

type RuleDialogProps = { rule: Rule; onClose: () => void }

export function ChangeRuleDialog({ rule, onClose }: RuleDialogProps): ReactNode {
  const t = useText()
  // Keep the role and the revision that the person saw first, even if the rule is read again.
  const [base] = useState(rule)
  const [role, setRole] = useState(base.role)
  const roles = useAllRoles(findRuleKind(base), findRuleObjectId(base))
  const { send, isPending, failure } = useSubmit(provisioningChangeRuleDocument)
  const name = nameRuleObject(base)
  const isSame = role === base.role
  return (
    <FormDialog
      title={t('members.changeRoleOf', base.group.displayName, name)}
      submitText={t('members.changeRole')}
      disabledReason={isSame ? t('members.sameRole') : null}
      isDirty={!isSame}
      isPending={isPending}
      failure={failure}
      fieldNames={['role']}
      onClose={onClose}
      onSubmit={() =>
        send({ id: base.id, role, expectedRevision: base.revision }, () => {
          showToast(t('provisioning.ruleAdded', base.group.displayName, role))
          onClose()
        })
      }
    >
      <RoleChoice name="role" roles={roles} value={role} onChange={setRole} />
      <Note tone="info">{t('provisioning.ruleEffect', base.group.memberCount)}</Note>
    </FormDialog>
  )
}

export function DeleteRuleDialog({
  rule,
  onClose,
  onDeleted = onClose,
}: RuleDialogProps & { onDeleted?: () => void }): ReactNode {
  const { id, group, role, revision } = rule
  const t = useText()
  const { send, isPending, failure } = useSubmit(provisioningDeleteRuleDocument)
  const name = nameRuleObject(rule)
  return (
    <DeleteDialog
      title={t('provisioning.deleteRuleTitle', group.displayName)}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id, expectedRevision: revision }, () => {
          showToast(t('provisioning.ruleDeleted', group.displayName, role, name))
          onDeleted()
        })
      }
    >
      <p>{t('provisioning.ruleLoss', group.memberCount, role, name)}</p>
      <p>{t('provisioning.ruleLossHint')}</p>
    </DeleteDialog>
  )
}
