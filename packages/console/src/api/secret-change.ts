// Changes whose result contains a secret that the API returns only once. They bypass the cache of TanStack Query, which
// would keep the result and the variables of a mutation: the secret exists only in the state of the component.
import { type TypedDocument, graphql } from '@manager/client'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { connection } from './connection.ts'
import { reportError, reportSuccess } from './connection-state.ts'
import { type Failure, describeFailure } from './failures.ts'

export type SecretChange<Variables, Secret> = {
  /** Sends the change once; further calls are ignored until the response arrives. */
  send: (variables: Variables) => void
  /** The selected part of the result. Null until the response arrives and after `forget` is called. */
  secret: Secret | null
  isPending: boolean
  failure: Failure | null
  /** Drops the secret and the failure. Call it when the dialog closes. */
  forget: () => void
}

/**
 * Sends a mutation that returns a secret. Use it in a component that stays mounted when the page reads its data again,
 * because the secret is lost when the component is removed. `select` keeps only the parts that the dialog shows. If
 * `check` rejects, nothing is sent.
 */
export function useSecretChange<Result, Variables extends Readonly<Record<string, unknown>>, Secret>(
  document: TypedDocument<Result, Variables>,
  select: (result: Result) => Secret,
  check: () => Promise<void> = () => Promise.resolve(),
): SecretChange<Variables, Secret> {
  const client = useQueryClient()
  const isSending = useRef(false)
  const [state, setState] = useState<
    Pick<SecretChange<Variables, Secret>, 'secret' | 'isPending' | 'failure'>
  >({ secret: null, isPending: false, failure: null })
  const run = async (variables: Variables): Promise<void> => {
    setState({ secret: null, isPending: true, failure: null })
    let isSent = false
    try {
      await check()
      isSent = true
      const secret = select(await graphql(connection, document, variables))
      reportSuccess()
      setState({ secret, isPending: false, failure: null })
    } catch (error) {
      reportError(error)
      setState({ secret: null, isPending: false, failure: describeFailure(error, { isChange: isSent }) })
    } finally {
      isSending.current = false
      void client.invalidateQueries()
    }
  }
  return {
    ...state,
    send: (variables) => {
      if (isSending.current) return
      isSending.current = true
      void run(variables)
    },
    forget: () => setState({ secret: null, isPending: false, failure: null }),
  }
}
