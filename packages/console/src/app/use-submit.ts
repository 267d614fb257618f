// Submits the change that a form makes.
import type { TypedDocument } from '@manager/client'
import { useMemo, useRef } from 'react'
import { type Failure, describeFailure } from '../api/failures.ts'
import { useChange } from '../api/requests.ts'

export type Submit<Result, Variables> = {
  /** Sends the change once; further calls are ignored until the response arrives. */
  send: (variables: Variables, onSaved: (result: Result) => void) => void
  isPending: boolean
  failure: Failure | null
  reset: () => void
}

export function useSubmit<Result, Variables extends Readonly<Record<string, unknown>>>(
  document: TypedDocument<Result, Variables>,
): Submit<Result, Variables> {
  const { error, ...change } = useChange(document)
  // A busy browser can deliver a second press before the button is drawn as pending.
  const isSending = useRef(false)
  const failure = useMemo(() => (error === null ? null : describeFailure(error, { isChange: true })), [error])
  const release = (): void => {
    isSending.current = false
  }
  return {
    send: (variables, onSaved) => {
      if (isSending.current) return
      isSending.current = true
      change.mutate(variables, { onSuccess: onSaved, onSettled: release })
    },
    isPending: change.isPending,
    failure,
    reset: () => {
      release()
      change.reset()
    },
  }
}
