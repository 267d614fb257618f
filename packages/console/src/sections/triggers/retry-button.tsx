// Retries a run that was not delivered, after a confirmation in a protected environment.
import { type ReactNode, useState } from 'react'
import { useChange } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useFailureToast } from '../../app/use-failure-toast.ts'
import { useSubmit } from '../../app/use-submit.ts'
import { triggerRetryDocument } from '../../generated/documents.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Run } from './trigger-types.ts'

type RetryProps = { run: Run; name: string; onStarted: (runId: string) => void }

/** Returns whether the Manager retries runs with this outcome. */
export const isRetryable = ({ outcome }: Run): boolean => outcome !== 'pending' && outcome !== 'delivered'

export function RetryButton({ run, name, onStarted }: RetryProps): ReactNode {
  const t = useText()
  const [isAsking, setAsking] = useState(false)
  const { mutate, isPending } = useChange(triggerRetryDocument)
  const onError = useFailureToast()
  const start = (): void => {
    if (isPending) return
    mutate(
      { id: run.id },
      {
        onError,
        onSuccess: ({ retryTriggerRun }) => {
          showToast(t('triggers.wasStarted', name, run.environment.name))
          onStarted(retryTriggerRun.id)
        },
      },
    )
  }
  return (
    <>
      <Button
        icon="refresh"
        action="triggers.retry"
        isPending={isPending}
        onPress={run.environment.protected ? () => setAsking(true) : start}
      >
        {t('triggers.retry')}
      </Button>
      {isAsking && (
        <RetryDialog
          run={run}
          name={name}
          onClose={() => setAsking(false)}
          onStarted={(id) => {
            setAsking(false)
            onStarted(id)
          }}
        />
      )}
    </>
  )
}

function RetryDialog({ run, name, onClose, onStarted }: RetryProps & { onClose: () => void }): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(triggerRetryDocument)
  return (
    <DeleteDialog
      title={t('triggers.retryTitle', name)}
      submitText={t('triggers.retry')}
      isOpen
      confirmation={run.environment.name}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={isPending ? () => {} : onClose}
      onDelete={() =>
        send({ id: run.id }, ({ retryTriggerRun }) => {
          showToast(t('triggers.wasStarted', name, run.environment.name))
          onStarted(retryTriggerRun.id)
        })
      }
    >
      <p>
        {t('triggers.retryHint')} <EnvironmentBadge name={run.environment.name} isProtected />
      </p>
    </DeleteDialog>
  )
}
