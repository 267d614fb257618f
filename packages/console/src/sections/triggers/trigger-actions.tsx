// Buttons that run, enable and delete a trigger, at the bottom of its panel.
import { type ReactNode, useState } from 'react'
import { useChange } from '../../api/requests.ts'
import { useMay } from '../../app/project.tsx'
import { useFailureToast } from '../../app/use-failure-toast.ts'
import { triggerUpdateDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { RunNow } from './run-now.tsx'
import { DeleteTrigger } from './trigger-delete.tsx'
import type { Trigger } from './trigger-types.ts'

type TriggerActionsProps = { trigger: Trigger; onRun: (runId: string) => void; onDeleted: () => void }

export function TriggerActions({ trigger, onRun, onDeleted }: TriggerActionsProps): ReactNode {
  const t = useText()
  const [isDeleting, setDeleting] = useState(false)
  const canRun = useMay('triggers.run')
  const canToggle = useMay('triggers.toggle')
  const canDelete = useMay('triggers.delete')
  if (!canRun && !canToggle && !canDelete) return <span className="muted">{t('triggers.readOnly')}</span>
  return (
    <>
      {canRun && <RunNow trigger={trigger} onStarted={onRun} />}
      {canToggle && <Toggle trigger={trigger} />}
      <span className="side-panel-foot-end">
        {canDelete && (
          <Button
            variant="quietDanger"
            icon="delete"
            action="triggers.delete"
            onPress={() => setDeleting(true)}
          >
            {t('kit.delete')}
          </Button>
        )}
      </span>
      {isDeleting && (
        <DeleteTrigger trigger={trigger} onClose={() => setDeleting(false)} onDeleted={onDeleted} />
      )}
    </>
  )
}

/** One button in both states, so that it keeps the focus. The toast offers undo. */
function Toggle({ trigger }: { trigger: Trigger }): ReactNode {
  const t = useText()
  const { mutate, isPending } = useChange(triggerUpdateDocument)
  const onError = useFailureToast()
  const { id, name } = trigger
  const set = (enabled: boolean, revision: number, hasUndo: boolean): void =>
    mutate(
      { id, input: { enabled, expectedRevision: revision } },
      {
        onError,
        onSuccess: ({ updateTrigger: saved }) =>
          showToast(
            enabled ? t('triggers.wasEnabled', name) : t('triggers.wasDisabled', name),
            hasUndo
              ? { undo: { label: t('app.undo'), run: () => set(!enabled, saved.revision, false) } }
              : {},
          ),
      },
    )
  return (
    <Button
      action="triggers.toggle"
      isPending={isPending}
      onPress={() => set(!trigger.enabled, trigger.revision, true)}
    >
      {trigger.enabled ? t('triggers.disable') : t('triggers.enable')}
    </Button>
  )
}
