// Explains at a file why it cannot be uploaded, or what happened to its upload, and what to do.
import type { ReactNode } from 'react'
import { useChangeText } from '../../app/change-failure.tsx'
import { Button } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { SignInLink } from '../../kit/state.tsx'
import { Id } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { UploadProblem } from './send-pilet.ts'
import { type Rejection, type Upload, maxFileBytes } from './upload-list.ts'

type UploadMessageProps = { upload: Upload; retry: ReactNode; onOpenVersion: (id: string) => void }

export function UploadMessage({ upload, retry, onOpenVersion }: UploadMessageProps): ReactNode {
  const t = useText()
  const { state } = upload
  switch (state.kind) {
    case 'rejected':
      return <Rejected problem={state.problem} />
    case 'failed':
      return <Failed upload={upload} problem={state.problem} retry={retry} onOpenVersion={onOpenVersion} />
    case 'cancelled':
      return (
        <Note tone="info" actions={retry}>
          {t('pilets.cancelledHint')}
        </Note>
      )
    case 'done':
      return (
        <Note tone="ok" actions={<OpenButton id={state.packageId} onOpenVersion={onOpenVersion} />}>
          {state.isEnabled ? t('pilets.uploadedEnabled') : t('pilets.uploadedDisabled')}
        </Note>
      )
    case 'reading':
    case 'ready':
    case 'waiting':
    case 'sending':
      return null
  }
}

function Rejected({ problem }: { problem: Rejection }): ReactNode {
  const t = useText()
  const { bytes } = useFormat()
  return (
    <Note tone="danger">
      {problem === 'tooLarge'
        ? t('pilets.rejected.tooLarge', bytes(maxFileBytes))
        : t(`pilets.rejected.${problem}`)}
    </Note>
  )
}

type OpenButtonProps = { id: string; onOpenVersion: (id: string) => void }

function OpenButton({ id, onOpenVersion }: OpenButtonProps): ReactNode {
  const t = useText()
  return (
    <Button size="small" onPress={() => onOpenVersion(id)}>
      {t('pilets.openVersion')}
    </Button>
  )
}

type FailedProps = UploadMessageProps & { problem: UploadProblem }

function Failed({ upload, problem, retry, onOpenVersion }: FailedProps): ReactNode {
  const t = useText()
  const describe = useChangeText()
  const { relative } = useFormat()
  const { name, version } = upload.manifest
  switch (problem.kind) {
    case 'sameContent':
      return (
        <Note tone="info" actions={<OpenButton id={problem.stored.id} onOpenVersion={onOpenVersion} />}>
          {t('pilets.sameContent', name, version)}
        </Note>
      )
    case 'otherContent':
      return (
        <Note
          tone="danger"
          actions={
            problem.stored !== null && <OpenButton id={problem.stored.id} onOpenVersion={onOpenVersion} />
          }
        >
          {problem.stored === null
            ? t('pilets.otherContent', name, version)
            : t('pilets.otherContentSince', name, version, relative(problem.stored.createdAt))}
        </Note>
      )
    case 'tooLarge':
      return <Note tone="danger">{t('pilets.tooLarge', problem.message)}</Note>
    case 'interrupted':
      return (
        <Note tone="danger" actions={retry}>
          {t('pilets.interrupted')}
        </Note>
      )
    case 'failure':
      return (
        <Note
          tone="danger"
          actions={problem.failure.kind === 'sessionEnded' ? <SignInLink isSmall isNewTab /> : retry}
        >
          <p>{describe(problem.failure)}</p>
          {problem.failure.requestId !== null && <Id value={problem.failure.requestId} />}
        </Note>
      )
  }
}
