// Creates a token for an identity provider and shows it once. Only the state of this component holds the token.
import { type ReactNode, useState } from 'react'
import { useSecretChange } from '../../api/secret-change.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useNow } from '../../app/now.ts'
import { OneTimeSecret } from '../../app/one-time-secret.tsx'
import { provisioningCreateTokenDocument } from '../../generated/documents.ts'
import { Select, TextField } from '../../kit/form.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { getScimAddress } from './scim-token.ts'

/** The lifetimes that the dialog offers, in days. */
const lifetimes = [90, 180, 365, 730]
const defaultLifetime = 365
const dayMs = 86_400_000

type CreateScimTokenProps = {
  onClose: () => void
  /** Called after the person has stored the token. */
  onCreated: (id: string) => void
}

export function CreateScimToken({ onClose, onCreated }: CreateScimTokenProps): ReactNode {
  const t = useText()
  const { date } = useFormat()
  const now = useNow()
  const { send, secret, isPending, failure, forget } = useSecretChange(
    provisioningCreateTokenDocument,
    ({ created: { token, scimToken } }) => ({ token, ...scimToken }),
  )
  const [name, setName] = useState('')
  const [days, setDays] = useState(defaultLifetime)
  if (secret !== null)
    return (
      <OneTimeSecret
        title={t('provisioning.tokenCreated', secret.name)}
        label={t('token.one')}
        hint={t('provisioning.tokenUseHint', getScimAddress())}
        secret={secret.token}
        onClose={() => {
          forget()
          onCreated(secret.id)
        }}
      />
    )
  const expiresAt = new Date(now + days * dayMs).toISOString()
  return (
    <FormDialog
      title={t('provisioning.newToken')}
      submitText={t('kit.create')}
      isDirty={name !== ''}
      isPending={isPending}
      failure={failure}
      fieldNames={['name', 'expiresAt']}
      onSubmit={() => send({ name: name.trim(), expiresAt })}
      onClose={onClose}
    >
      <TextField
        name="name"
        label={t('token.name')}
        hint={t('provisioning.tokenNameHint')}
        value={name}
        onChange={setName}
        isRequired
        hasAutoFocus
      />
      <Select
        name="expiresAt"
        label={t('token.expires')}
        hint={t('me.expiresOn', date(expiresAt))}
        value={String(days)}
        options={lifetimes.map((count) => ({ id: String(count), text: t('provisioning.lifetime', count) }))}
        onChange={(id) => setDays(Number(id))}
      />
    </FormDialog>
  )
}
