// Runs a trigger now, in one environment. A protected environment must be typed.
import { type ReactNode, useState } from 'react'
import { useEnvironment } from '../../app/environment.tsx'
import { FormDialog } from '../../app/form-dialog.tsx'
import { type CurrentEnvironment, useProject } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { triggerRunDocument } from '../../generated/documents.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { Select, TextField } from '../../kit/form.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import type { Trigger } from './trigger-types.ts'

type RunDialogProps = {
  trigger: Pick<Trigger, 'id' | 'name'>
  onClose: () => void
  onStarted: (runId: string) => void
}

/** A random key, so that a repeated request starts no second run. `randomUUID` needs HTTPS. */
const createKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

function findProblem(
  environment: CurrentEnvironment | null,
  { hasEnvironments, typed }: { hasEnvironments: boolean; typed: string },
  t: Translate,
): string | null {
  if (!hasEnvironments) return t('triggers.noEnvironments')
  if (environment === null) return t('triggers.chooseEnvironment')
  return environment.protected && typed !== environment.name ? t('kit.typeToConfirm', environment.name) : null
}

export function RunDialog({ trigger, onClose, onStarted }: RunDialogProps): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const current = useEnvironment()
  const [initialId] = useState(current?.id ?? (environments.length === 1 ? environments[0]?.id : undefined))
  const [environmentId, setEnvironmentId] = useState(initialId ?? null)
  const [typed, setTyped] = useState('')
  const [key, setKey] = useState(createKey)
  const { send, isPending, failure } = useSubmit(triggerRunDocument)
  const environment = environments.find(({ id }) => id === environmentId) ?? null
  return (
    <FormDialog
      title={t('triggers.runTitleNow', trigger.name)}
      submitText={t('triggers.runNow')}
      disabledReason={findProblem(environment, { hasEnvironments: environments.length > 0, typed }, t)}
      isDirty={false}
      isPending={isPending}
      failure={failure}
      onSubmit={() => {
        if (environment === null) return
        send({ id: trigger.id, environment: environment.id, requestKey: key }, ({ runTrigger }) => {
          showToast(t('triggers.wasStarted', trigger.name, environment.name))
          onStarted(runTrigger.id)
        })
      }}
      onClose={onClose}
    >
      <p>{t('triggers.runHint')}</p>
      <Select
        label={t('triggers.environment')}
        placeholder={t('app.choose')}
        value={environmentId}
        options={environments.map(({ id, name, displayName, protected: isProtected }) => ({
          id,
          text: isProtected ? `${name} (${t('triggers.protected')})` : name,
          hint: displayName,
        }))}
        onChange={(next) => {
          setEnvironmentId(next)
          setTyped('')
          // The Manager accepts a key for one environment only.
          setKey(createKey())
        }}
        isRequired
      />
      {environment?.protected === true && (
        <>
          <p>
            <EnvironmentBadge name={environment.name} isProtected />
          </p>
          <TextField
            label={t('kit.typeToConfirm', environment.name)}
            isMono
            value={typed}
            onChange={setTyped}
          />
        </>
      )}
    </FormDialog>
  )
}
