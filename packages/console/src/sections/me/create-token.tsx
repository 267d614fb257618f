// Creates a personal access token and shows it once. Only the state of this component holds the token.
import { type ReactNode, useState } from 'react'
import { useSecretChange } from '../../api/secret-change.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { useNow } from '../../app/now.ts'
import { OneTimeSecret } from '../../app/one-time-secret.tsx'
import { createTokenDocument } from '../../generated/documents.ts'
import { Select, TextField } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type Lifetime, defaultLifetime, findExpiry, lifetimes } from './expiry.ts'

type CreateTokenProps = {
  onClose: () => void
  /** Called after the person has stored the token. */
  onCreated: (id: string) => void
}

export function CreateToken({ onClose, onCreated }: CreateTokenProps): ReactNode {
  const t = useText()
  const { send, secret, isPending, failure, forget } = useSecretChange(
    createTokenDocument,
    ({ created: { token, personalAccessToken } }) => ({ token, ...personalAccessToken }),
  )
  const now = useNow()
  const [name, setName] = useState('')
  const [lifetime, setLifetime] = useState<Lifetime>(defaultLifetime)
  const [day, setDay] = useState('')
  if (secret !== null)
    return (
      <OneTimeSecret
        title={t('me.tokenCreated', secret.name)}
        label={t('token.one')}
        hint={t('me.tokenUseHint')}
        secret={secret.token}
        onClose={() => {
          forget()
          onCreated(secret.id)
        }}
      />
    )
  const expiresAt = findExpiry(lifetime, day, now)
  const hasDay = lifetime !== 'day' || expiresAt !== null
  return (
    <FormDialog
      title={t('me.newToken')}
      submitText={t('kit.create')}
      disabledReason={hasDay ? null : t('me.chooseDay')}
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
        hint={t('me.tokenNameHint')}
        value={name}
        onChange={setName}
        isRequired
        hasAutoFocus
      />
      <ExpiryFields
        lifetime={lifetime}
        onLifetime={setLifetime}
        day={day}
        onDay={setDay}
        expiresAt={expiresAt}
      />
    </FormDialog>
  )
}

type ExpiryFieldsProps = {
  lifetime: Lifetime
  onLifetime: (lifetime: Lifetime) => void
  day: string
  onDay: (day: string) => void
  expiresAt: string | null
}

function ExpiryFields({ lifetime, onLifetime, day, onDay, expiresAt }: ExpiryFieldsProps): ReactNode {
  const t = useText()
  const { date } = useFormat()
  return (
    <>
      <Select
        {...(lifetime === 'day' ? {} : { name: 'expiresAt' })}
        {...(lifetime === 'day' || expiresAt === null ? {} : { hint: t('me.expiresOn', date(expiresAt)) })}
        label={t('token.expires')}
        value={lifetime}
        options={lifetimes.map((id) => ({ id, text: t(`me.lifetime.${id}`) }))}
        onChange={(id) => onLifetime(lifetimes.find((known) => known === id) ?? defaultLifetime)}
      />
      {lifetime === 'day' && (
        <TextField
          name="expiresAt"
          type="date"
          label={t('me.lastDay')}
          value={day}
          onChange={onDay}
          isRequired
        />
      )}
      {lifetime === 'never' && <Note tone="warn">{t('me.neverHint')}</Note>}
    </>
  )
}
