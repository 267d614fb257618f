// The theme as a value that components share.
import { useSyncExternalStore } from 'react'
import { type Theme, readTheme, saveTheme } from '../kit/theme.ts'

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function changeTheme(theme: Theme): void {
  saveTheme(theme)
  for (const listener of listeners) listener()
}

/** Returns the theme of this browser and the function that changes it. */
export const useTheme = (): readonly [Theme, (theme: Theme) => void] => [
  useSyncExternalStore(subscribe, readTheme),
  changeTheme,
]
