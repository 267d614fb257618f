// Confirmation dialogs for revoking and deleting a personal access token.
import type { ReactNode } from 'react'
import { deleteTokenDocument, revokeTokenDocument } from '../generated/documents.ts'
import { DeleteDialog } from '../kit/dialog.tsx'
import { Note } from '../kit/note.tsx'
import { showToast } from '../kit/toast.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { ChangeFailure } from './change-failure.tsx'
import { useNow } from './now.ts'
import { type AccessToken, isUsable } from './token-state.ts'
import { useSubmit } from './use-submit.ts'

type TokenDialogProps = { token: AccessToken; onClose: () => void }

export function RevokeTokenDialog({ token, onClose }: TokenDialogProps): ReactNode {
  const { id, name, revision } = token
  const t = useText()
  const { send, isPending, failure } = useSubmit(revokeTokenDocument)
  return (
    <DeleteDialog
      title={t('token.revokeTitle', name)}
      submitText={t('token.revoke')}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id, expectedRevision: revision }, () => {
          showToast(t('token.revokedToast', name))
          onClose()
        })
      }
    >
      <p>{t('token.revokeHint')}</p>
      <RecentUse token={token} />
    </DeleteDialog>
  )
}

export function DeleteTokenDialog({
  token,
  onClose,
  onDeleted,
}: TokenDialogProps & { onDeleted: () => void }): ReactNode {
  const { id, name, revision } = token
  const t = useText()
  const { send, isPending, failure } = useSubmit(deleteTokenDocument)
  return (
    <DeleteDialog
      title={t('token.deleteTitle', name)}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id, expectedRevision: revision }, () => {
          showToast(t('app.deleted', name))
          onDeleted()
        })
      }
    >
      <p>{t('token.deleteHint')}</p>
      <RecentUse token={token} />
    </DeleteDialog>
  )
}

const recentMs = 7 * 86_400_000

/** Warns if a usable token was used recently. */
export function RecentUse({ token }: { token: AccessToken }): ReactNode {
  const t = useText()
  const { relative } = useFormat()
  const now = useNow()
  const { lastUsedAt } = token
  if (lastUsedAt === null || now - Date.parse(lastUsedAt) > recentMs || !isUsable(token, now)) return null
  return <Note tone="warn">{t('token.recentUse', relative(lastUsedAt))}</Note>
}
