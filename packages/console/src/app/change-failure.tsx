// The failure of a change, shown above the buttons of its form.
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Failure } from '../api/failures.ts'
import { Button } from '../kit/button.tsx'
import { Note } from '../kit/note.tsx'
import { SignInLink, useFailureText } from '../kit/state.tsx'
import { Id } from '../kit/values.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'

type ChangeFailureProps = {
  failure: Failure | null
  /** Called after the visible data has been read again, so that the form can restart with the new data. */
  onReload?: () => void
  /** Names of the form's fields. Their errors are shown at the fields instead. */
  fieldNames?: readonly string[]
}

/** Returns the text of a failed change: what happened, and what to do. */
export function useChangeText(): (failure: Failure) => string {
  const t = useText()
  const { number } = useFormat()
  const describeFailure = useFailureText()
  return (failure) => {
    const { kind, message, changedBy, retryAfterMs } = failure
    const wait =
      retryAfterMs === null ? '' : ` ${t('app.retryAfter', number(Math.ceil(retryAfterMs / 1_000)))}`
    switch (kind) {
      case 'conflict':
        return changedBy === null ? t('app.changedBySomebody') : t('app.changedBy', changedBy)
      case 'sessionEnded':
        return t('failure.changeSessionEnded')
      case 'offline':
        return t('failure.changeOffline')
      case 'unknownOutcome':
        return describeFailure(failure)
      case 'rateLimited':
      case 'unavailable':
        return describeFailure(failure) + wait
      case 'notFound':
      case 'forbidden':
      case 'invalid':
      case 'unreachable':
      case 'unexpected':
        return message + wait
    }
  }
}

/** Explains why a change failed and what to do. Shows nothing if all errors belong to fields of the form. */
export function ChangeFailure({ failure, onReload, fieldNames }: ChangeFailureProps): ReactNode {
  if (failure === null) return null
  const isAtFields =
    failure.fields.length > 0 &&
    failure.fields.every(({ path }) => fieldNames?.includes(path.replace(/^input\./, '')) ?? false)
  return isAtFields ? null : (
    <ChangeNote failure={failure} {...(onReload === undefined ? {} : { onReload })} />
  )
}

type ChangeNoteProps = { failure: Failure; onReload?: () => void }

/** Mounted only while there is a failure, so that the next failure does not start in the reloaded state. */
function ChangeNote({ failure, onReload }: ChangeNoteProps): ReactNode {
  const t = useText()
  const describe = useChangeText()
  const client = useQueryClient()
  const [isReloaded, setReloaded] = useState(false)
  const canReload = failure.kind === 'conflict' || failure.kind === 'unknownOutcome'
  const reload = async (): Promise<void> => {
    await client.invalidateQueries()
    setReloaded(true)
    onReload?.()
  }
  return (
    <Note
      tone="danger"
      actions={
        <>
          {failure.kind === 'sessionEnded' && <SignInLink isSmall isNewTab />}
          {canReload && (
            <Button size="small" icon="refresh" onPress={() => void reload()}>
              {t('app.reload')}
            </Button>
          )}
        </>
      }
    >
      <p>{isReloaded ? t('failure.unknownOutcomeReloaded') : describe(failure)}</p>
      {failure.requestId !== null && <Id value={failure.requestId} />}
    </Note>
  )
}
