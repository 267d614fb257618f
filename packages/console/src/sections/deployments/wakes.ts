// The wakes that this tab has started. They outlive the panel that started them, so that a person can leave it and
// return, and a reload of the tab.
import { graphql } from '@manager/client'
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { readStored, saveStored } from '../../api/browser-storage.ts'
import { connection } from '../../api/connection.ts'
import { reportError, reportSuccess } from '../../api/connection-state.ts'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { deploymentWakeDocument } from '../../generated/documents.ts'
import { type Wake, isUnderway, putWake, restoreWakes } from './wake-list.ts'

const storageKey = 'svc-console.wakes'

let wakes: readonly Wake[] | null = null
const listeners = new Set<() => void>()

const readWakes = (): readonly Wake[] =>
  (wakes ??= restoreWakes(readStored(storageKey, 'sessionStorage'), Date.now()))

function change(next: readonly Wake[]): void {
  wakes = next
  saveStored(storageKey, JSON.stringify(next), 'sessionStorage')
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns the wakes of this tab, at most one per deployment. */
const useWakes = (): readonly Wake[] => useSyncExternalStore(subscribe, readWakes)

export const useWake = (deployment: string): Wake | null =>
  useWakes().find((wake) => wake.deployment === deployment) ?? null

type Target = { readonly application: string; readonly environment: string }

/** Wakes a deployment. A second call is ignored while the first one waits for the response. */
export async function startWake(client: QueryClient, deployment: string, target: Target): Promise<void> {
  if (readWakes().some((wake) => wake.deployment === deployment && wake.phase === 'asking')) return
  const startedAt = Date.now()
  const put = (wake: Pick<Wake, 'phase'> & Partial<Wake>): void =>
    change(
      putWake(readWakes(), {
        deployment,
        startedAt,
        answeredAt: Date.now(),
        minReplicas: null,
        isAlreadyAwake: false,
        failure: null,
        ...wake,
      }),
    )
  put({ phase: 'asking' })
  try {
    const { wakeDeployment } = await graphql(connection, deploymentWakeDocument, target)
    reportSuccess()
    put({
      phase: 'waiting',
      minReplicas: wakeDeployment.minReplicas,
      isAlreadyAwake: wakeDeployment.alreadyAwake,
    })
  } catch (error) {
    reportError(error)
    const failure: Failure = describeFailure(error, { isChange: true })
    put({ phase: failure.kind === 'unknownOutcome' ? 'unknown' : 'failed', failure })
  } finally {
    void client.invalidateQueries()
  }
}

/** Ends a wake, because a live backend was seen after it. */
export function endWake(deployment: string): void {
  const wake = readWakes().find((entry) => entry.deployment === deployment)
  if (wake !== undefined && isUnderway(wake)) change(putWake(readWakes(), { ...wake, phase: 'ready' }))
}

export const dismissWake = (deployment: string): void =>
  change(readWakes().filter((wake) => wake.deployment !== deployment))
