// Creates a machine user, and then shows its credential once.
import { type ReactNode, useState } from 'react'
import { useSecretChange } from '../../api/secret-change.ts'
import { useEnvironment } from '../../app/environment.tsx'
import { FormDialog } from '../../app/form-dialog.tsx'
import { OneTimeSecret } from '../../app/one-time-secret.tsx'
import { type CurrentEnvironment, useProject } from '../../app/project.tsx'
import { type CreateMachineUserInput, machineUserCreateDocument } from '../../generated/documents.ts'
import { Select, TextField } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { InEnvironment } from './in-environment.tsx'

type Kind = 'token' | 'password'
type Values = { name: string; environmentId: string | null; kind: Kind; username: string }
type CreateMachineUserProps = { onClose: () => void; onCreated: (id: string) => void }

const passwordBytes = 32

/** Returns a password with the entropy and the characters of a token. */
const createPassword = (): string =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(passwordBytes))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const toInput = ({ name, kind, username }: Values): CreateMachineUserInput =>
  kind === 'token'
    ? { name, hashedKey: '__GENERATE_TOKEN__' }
    : { name, username, hashedKey: createPassword() }

export function CreateMachineUser({ onClose, onCreated }: CreateMachineUserProps): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const current = useEnvironment()
  const [initial] = useState<Values>({
    name: '',
    environmentId: current?.id ?? (environments.length === 1 ? (environments[0]?.id ?? null) : null),
    kind: 'token',
    username: '',
  })
  const [values, setValues] = useState(initial)
  const { send, secret, isPending, failure, forget } = useSecretChange(
    machineUserCreateDocument,
    ({ createMachineUserWithCredentials: { generatedToken, plaintextPassword, machineUser } }) => ({
      text: generatedToken ?? plaintextPassword ?? '',
      id: machineUser.id,
    }),
  )
  const environment = environments.find(({ id }) => id === values.environmentId) ?? null
  if (secret !== null && environment !== null)
    return (
      <NewSecret
        values={values}
        environment={environment}
        secret={secret.text}
        onClose={() => {
          forget()
          onCreated(secret.id)
        }}
      />
    )
  return (
    <FormDialog
      title={t('machineUsers.new')}
      submitText={t('kit.create')}
      disabledReason={environment === null ? describeMissing(environments, t) : null}
      isDirty={JSON.stringify(values) !== JSON.stringify(initial)}
      isPending={isPending}
      failure={failure}
      fieldNames={['name', 'username']}
      onSubmit={() => {
        if (environment !== null) send({ environment: environment.id, input: toInput(values) })
      }}
      onClose={onClose}
    >
      <Fields
        values={values}
        environments={environments}
        onChange={(changes) => setValues({ ...values, ...changes })}
      />
    </FormDialog>
  )
}

const describeMissing = (environments: readonly CurrentEnvironment[], t: Translate): string =>
  environments.length === 0 ? t('machineUsers.noEnvironments') : t('machineUsers.chooseEnvironment')

type FieldsProps = {
  values: Values
  environments: readonly CurrentEnvironment[]
  onChange: (changes: Partial<Values>) => void
}

function Fields({ values, environments, onChange }: FieldsProps): ReactNode {
  const t = useText()
  return (
    <>
      <TextField
        name="name"
        label={t('machineUsers.name')}
        hint={t('machineUsers.nameHint')}
        value={values.name}
        onChange={(name) => onChange({ name })}
        isRequired
        hasAutoFocus
      />
      <Select
        label={t('machineUsers.environment')}
        placeholder={t('app.choose')}
        value={values.environmentId}
        options={environments.map(({ id, name, displayName, protected: isProtected }) => ({
          id,
          text: isProtected ? `${name} (${t('machineUsers.protected')})` : name,
          hint: displayName,
        }))}
        onChange={(environmentId) => onChange({ environmentId })}
        isRequired
      />
      <Select
        label={t('machineUsers.kind')}
        hint={t('machineUsers.kindHint')}
        value={values.kind}
        options={[
          { id: 'token', text: t('machineUsers.kindToken') },
          { id: 'password', text: t('machineUsers.kindPassword') },
        ]}
        onChange={(kind) => onChange({ kind: kind === 'password' ? 'password' : 'token' })}
      />
      {values.kind === 'password' && (
        <TextField
          name="username"
          label={t('machineUsers.userName')}
          hint={t('machineUsers.userNameHint')}
          value={values.username}
          onChange={(username) => onChange({ username })}
          isMono
          isRequired
        />
      )}
    </>
  )
}

type NewSecretProps = {
  values: Values
  environment: CurrentEnvironment
  secret: string
  onClose: () => void
}

function NewSecret({ values, environment, secret, onClose }: NewSecretProps): ReactNode {
  const t = useText()
  const { name, kind, username } = values
  const isToken = kind === 'token'
  return (
    <OneTimeSecret
      title={isToken ? t('machineUsers.tokenTitle', name) : t('machineUsers.passwordTitle', name)}
      label={isToken ? t('machineUsers.token') : t('machineUsers.password')}
      secret={secret}
      hint={
        <InEnvironment environment={environment}>
          {isToken ? t('machineUsers.giveToken') : t('machineUsers.givePassword', username)}
        </InEnvironment>
      }
      onClose={onClose}
    />
  )
}
