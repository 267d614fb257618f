// Deletes a trigger. Its runs are no longer shown.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { Consequences, DeletionScope } from '../../app/consequences.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { triggerDeleteDocument, triggerRunTotalDocument } from '../../generated/documents.ts'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Trigger } from './trigger-types.ts'

type DeleteTriggerProps = { trigger: Trigger; onClose: () => void; onDeleted: () => void }

export function DeleteTrigger({ trigger, onClose, onDeleted }: DeleteTriggerProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(triggerDeleteDocument)
  return (
    <DeleteDialog
      title={t('triggers.deleteTitle', trigger.name)}
      isOpen
      confirmation={trigger.name}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: trigger.id, revision: trigger.revision }, () => {
          showToast(t('app.deleted', trigger.name))
          onDeleted()
        })
      }
    >
      <DeletionScope />
      <Numbers id={trigger.id} />
    </DeleteDialog>
  )
}

function Numbers({ id }: { id: string }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { data, error } = useRead(triggerRunTotalDocument, { trigger: id })
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={1} />
    ) : (
      <Note tone="warn">{t('app.consequencesUnknown', describeFailure(error).message)}</Note>
    )
  const { totalCount, isTotalExact } = data.triggerRunsConnection
  return (
    <Consequences
      items={[
        {
          id: 'runs',
          count: isTotalExact ? totalCount : `${number(totalCount)}+`,
          text: t('triggers.countRuns', totalCount),
        },
      ]}
    />
  )
}
