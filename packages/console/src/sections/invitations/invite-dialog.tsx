// Invites a person and shows the link once. Only the state of this component holds the link.
import { type ReactNode, useState } from 'react'
import { useSecretChange } from '../../api/secret-change.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { OneTimeSecret } from '../../app/one-time-secret.tsx'
import { Check, Select, TextField } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { useText } from '../../texts/language.tsx'
import { operations as memberships } from '../members/kinds.ts'
import { RoleChoice } from '../members/role-choice.tsx'
import { useRoles } from '../members/roles.ts'
import { type InvitationTarget, operations } from './kinds.ts'

const dayOptions = [1, 3, 7, 14, 30]
// The operator configures the default and the maximum.
const operatorDefault = 'default'

type InviteDialogProps = Pick<InvitationTarget, 'kind' | 'object'> & { onClose: () => void }

export function InviteDialog({ kind, object, onClose }: InviteDialogProps): ReactNode {
  const t = useText()
  const roles = useRoles(kind, object.id)
  const { send, secret, isPending, failure } = useSecretChange(
    operations[kind].invite,
    ({ created: { link, delivery } }) => ({ link, delivery }),
  )
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<string | null>(null)
  const [days, setDays] = useState(operatorDefault)
  const [isOnlyForEmail, setOnlyForEmail] = useState(true)
  if (secret !== null)
    return (
      <OneTimeSecret
        title={t('invitations.created', email.trim())}
        label={t('invitations.link')}
        hint={<DeliveryHint delivery={secret.delivery} email={email.trim()} />}
        secret={secret.link}
        onClose={onClose}
      />
    )
  const { roleField } = memberships[kind]
  return (
    <FormDialog
      title={t('invitations.inviteTo', object.name)}
      submitText={t('invitations.invite')}
      disabledReason={role === null ? t('members.chooseRole') : null}
      isDirty={email !== ''}
      isPending={isPending}
      failure={failure}
      fieldNames={['email', roleField, 'expiresInDays']}
      onClose={onClose}
      onSubmit={() => {
        if (role === null) return
        send({
          object: object.id,
          email: email.trim(),
          role,
          days: days === operatorDefault ? null : Number(days),
          requireSameEmail: isOnlyForEmail,
        })
      }}
    >
      <TextField
        name="email"
        type="email"
        label={t('invitations.email')}
        value={email}
        onChange={setEmail}
        isRequired
        hasAutoFocus
      />
      <RoleChoice name={roleField} roles={roles} value={role} onChange={setRole} />
      <Select
        name="expiresInDays"
        label={t('invitations.validity')}
        value={days}
        options={[
          { id: operatorDefault, text: t('invitations.defaultDays') },
          ...dayOptions.map((count) => ({ id: String(count), text: t('invitations.days', count) })),
        ]}
        onChange={setDays}
      />
      <Check label={t('invitations.onlyForEmail')} isSelected={isOnlyForEmail} onChange={setOnlyForEmail} />
      {!isOnlyForEmail && <Note tone="warn">{t('invitations.forAnybody')}</Note>}
    </FormDialog>
  )
}

function DeliveryHint({ delivery, email }: { delivery: string; email: string }): ReactNode {
  const t = useText()
  if (delivery === 'DELIVERED') return t('invitations.delivered', email)
  if (delivery === 'FAILED') return <Note tone="warn">{t('invitations.notDelivered')}</Note>
  return t('invitations.sendLink', email)
}
