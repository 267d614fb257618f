// Light, dark, or the system setting. The theme is the property `color-scheme` of the root element.
import { readStored, saveStored } from '../api/browser-storage.ts'

const storageKey = 'svc-console.theme'
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const isTheme = (value: string | null): value is Theme => themes.some((theme) => theme === value)

/** Returns the theme that is stored in this browser. */
export function readTheme(): Theme {
  const stored = readStored(storageKey)
  return isTheme(stored) ? stored : 'system'
}

/** Applies a theme, by default the stored one. */
export function applyTheme(theme: Theme = readTheme()): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
}

export function saveTheme(theme: Theme): void {
  saveStored(storageKey, theme)
  applyTheme(theme)
}
