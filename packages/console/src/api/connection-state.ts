// The state of the session and of the installed version, for the notes above every page.
import { useSyncExternalStore } from 'react'
import { describeFailure } from './failures.ts'

export type ConnectionState = {
  /** A request was rejected because the session has ended. */
  readonly isSessionEnded: boolean
  /** A part of this version could not be loaded, because a newer version is installed. */
  readonly isOutdated: boolean
}

let state: ConnectionState = { isSessionEnded: false, isOutdated: false }
const listeners = new Set<() => void>()

function change(changes: Partial<ConnectionState>): void {
  const next = { ...state, ...changes }
  if (next.isSessionEnded === state.isSessionEnded && next.isOutdated === state.isOutdated) return
  state = next
  for (const listener of listeners) listener()
}

export function reportError(error: unknown): void {
  if (describeFailure(error).kind === 'sessionEnded') change({ isSessionEnded: true })
}

/** A successful request proves that the person is signed in. They may have signed in again in another tab. */
export const reportSuccess = (): void => change({ isSessionEnded: false })

export const reportOutdated = (): void => change({ isOutdated: true })

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useConnectionState = (): ConnectionState => useSyncExternalStore(subscribe, () => state)

function subscribeOnline(listener: () => void): () => void {
  globalThis.addEventListener('online', listener)
  globalThis.addEventListener('offline', listener)
  return () => {
    globalThis.removeEventListener('online', listener)
    globalThis.removeEventListener('offline', listener)
  }
}

export const useOnline = (): boolean => useSyncExternalStore(subscribeOnline, () => navigator.onLine)
