// Asks for confirmation before the person leaves a page with changes that are not saved.
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { useText } from '../texts/language.tsx'

type Search = Readonly<Record<string, string | undefined>>

type LeaveGuardProps = {
  isDirty: boolean
  /** Parameters of the address that name the edited objects. Other parameters can change without losing changes. */
  objectParameters?: readonly string[]
  title: string
  hint: string
}

const noParameters: readonly string[] = []

export function LeaveGuard({
  isDirty,
  objectParameters = noParameters,
  title,
  hint,
}: LeaveGuardProps): ReactNode {
  const t = useText()
  const blocker = useBlocker({
    enableBeforeUnload: isDirty,
    withResolver: true,
    shouldBlockFn: ({ current, next }) => {
      const [from, to]: Search[] = [current.search, next.search]
      const keepsObjects = objectParameters.every((name) => from?.[name] === to?.[name])
      return isDirty && !(current.pathname === next.pathname && keepsObjects)
    },
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Dialog
      title={title}
      isOpen
      onClose={blocker.reset}
      foot={
        <>
          <Button onPress={blocker.reset}>{t('app.keepEditing')}</Button>
          <Button variant="danger" onPress={blocker.proceed}>
            {t('app.discard')}
          </Button>
        </>
      }
    >
      <p>{hint}</p>
    </Dialog>
  )
}
