// The dialog for a secret that the API returns only once. While it is open, neither Back nor a link leaves the page.
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import { SecretDialog, type SecretDialogProps } from '../kit/dialog.tsx'

export function OneTimeSecret({ onClose, ...props }: SecretDialogProps): ReactNode {
  const isDone = useRef(false)
  useBlocker({ shouldBlockFn: () => !isDone.current, enableBeforeUnload: () => !isDone.current })
  return (
    <SecretDialog
      {...props}
      onClose={() => {
        isDone.current = true
        onClose()
      }}
    />
  )
}
