// Deletes a machine user and the objects that depend on it.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { Consequences } from '../../app/consequences.tsx'
import { useCan } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { machineUserDeleteDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { Skeleton } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { InEnvironment } from './in-environment.tsx'
import type { MachineUser } from './machine-user-types.ts'
import { useCanReadAccess, useEndpointAccess } from './use-endpoint-access.ts'
import { useMachineBackends } from './use-machine-backends.ts'

type DeleteMachineUserProps = {
  user: MachineUser
  onClose: () => void
  onDeleted: () => void
  /** Called if the person wants to disable the machine user after the deletion was rejected. */
  onDisable: () => void
}

type Dependents = {
  /** Null while the objects are being counted, or if they cannot be counted. */
  readonly counts: { readonly access: number; readonly backends: number } | null
  readonly error: Error | null
}

function useDependents(id: string): Dependents {
  const canCount = useCanReadAccess()
  const canCountBackends = useCan('BACKEND_READ')
  const access = useEndpointAccess(id)
  const backends = useMachineBackends(id)
  const rows = canCount ? access.items?.filter(({ row }) => row !== null).length : 0
  const registered = canCountBackends ? backends.items?.length : 0
  return {
    counts: rows === undefined || registered === undefined ? null : { access: rows, backends: registered },
    error: access.error ?? backends.error,
  }
}

export function DeleteMachineUser({
  user,
  onClose,
  onDeleted,
  onDisable,
}: DeleteMachineUserProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(machineUserDeleteDocument)
  const { counts, error } = useDependents(user.id)
  const isOneRow = counts !== null && counts.access + counts.backends === 0
  return (
    <DeleteDialog
      title={t('machineUsers.deleteTitle', user.name)}
      isOpen
      confirmation={isOneRow && !user.environment.protected ? null : user.name}
      isPending={isPending}
      failure={
        <>
          <ChangeFailure failure={failure} onReload={onClose} />
          {failure?.kind === 'invalid' && user.enabled && (
            <div>
              <Button onPress={onDisable}>{t('machineUsers.disableInstead')}</Button>
            </div>
          )}
        </>
      }
      onClose={onClose}
      onDelete={() =>
        send({ id: user.id, revision: user.revision }, () => {
          showToast(t('app.deleted', user.name))
          onDeleted()
        })
      }
    >
      <InEnvironment environment={user.environment}>
        {t('app.deleteFinal')} {t('machineUsers.deleteHint')}
      </InEnvironment>
      <Numbers counts={counts} error={error} />
      <p className="secondary">{t('machineUsers.deleteCalls')}</p>
    </DeleteDialog>
  )
}

function Numbers({ counts, error }: Dependents): ReactNode {
  const t = useText()
  if (counts === null)
    return error === null ? (
      <Skeleton rows={2} />
    ) : (
      <Note tone="warn">{t('app.consequencesUnknown', describeFailure(error).message)}</Note>
    )
  const { access, backends } = counts
  return (
    <Consequences
      items={[
        { id: 'access', count: access, text: t('machineUsers.countAccess', access) },
        { id: 'backends', count: backends, text: t('machineUsers.countBackends', backends) },
      ]}
    />
  )
}
