// Deletes an endpoint and the access of machine users to it.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { Consequences, DeletionScope } from '../../app/consequences.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { esbAccessDocument, esbDeleteEndpointDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { Endpoint } from './endpoint-types.ts'

type DeleteEndpointProps = {
  endpoint: Endpoint
  onClose: () => void
  onDeleted: () => void
  /** Called if the person wants to disable the endpoint after the deletion was rejected. */
  onDisable: () => void
}

export function DeleteEndpoint({
  endpoint: { id, name, consumeURL, enabled, revision },
  onClose,
  onDeleted,
  onDisable,
}: DeleteEndpointProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(esbDeleteEndpointDocument)
  return (
    <DeleteDialog
      title={t('esb.deleteTitle', name)}
      isOpen
      // An endpoint serves all environments, also the protected ones. Its path is easy to type; its name may not be.
      confirmation={consumeURL}
      isPending={isPending}
      failure={
        <>
          <ChangeFailure failure={failure} onReload={onClose} />
          {failure?.kind === 'invalid' && enabled && (
            <div>
              <Button onPress={onDisable}>{t('esb.disableInstead')}</Button>
            </div>
          )}
        </>
      }
      onClose={onClose}
      onDelete={() =>
        send({ id, revision }, () => {
          showToast(t('app.deleted', name))
          onDeleted()
        })
      }
    >
      <DeletionScope />
      <Numbers id={id} />
      <p className="secondary">{t('esb.deleteCalls')}</p>
    </DeleteDialog>
  )
}

function Numbers({ id }: { id: string }): ReactNode {
  const t = useText()
  const { data, error } = useRead(esbAccessDocument, { endpoint: id, pagination: { limit: 1, offset: 0 } })
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={1} />
    ) : (
      <Note tone="warn">{t('app.consequencesUnknown', describeFailure(error).message)}</Note>
    )
  const { totalCount } = data.machineUser2endpointsConnection
  return (
    <Consequences items={[{ id: 'access', count: totalCount, text: t('esb.countAccess', totalCount) }]} />
  )
}
