// A default locale or theme must be enabled.
import type { Row } from './output.ts'

const pairs = [
  { what: 'locale', enabled: 'EnabledLocales', chosen: 'DefaultLocale' },
  { what: 'theme', enabled: 'EnabledThemes', chosen: 'DefaultTheme' },
] as const

/**
 * Returns the problem with the defaults of a changed frontend configuration, or null. The nearest non-empty list
 * counts: the list of the layer itself, or of the layers it inherits from. If no list is set, any default is accepted.
 */
export function problemOfDefaults(change: Row, present: Row, inherited: readonly Row[]): string | null {
  const changed = { ...present, ...change }
  for (const { what, enabled, chosen } of pairs) {
    if (!(enabled in change) && !(chosen in change)) continue
    const value = (changed[chosen] ?? '') as string
    const lists = [changed, ...inherited].map((config) => (config[enabled] ?? []) as readonly string[])
    const list = lists.find(({ length }) => length > 0)
    if (value !== '' && list !== undefined && !list.includes(value))
      return `The default ${what} ${value} is not enabled. Enable it, or use one of: ${list.join(', ')}.`
  }
  return null
}
