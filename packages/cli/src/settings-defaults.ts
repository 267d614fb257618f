// A default locale or theme is one of those that are enabled.
import type { Row } from './output.ts'

const pairs = [
  { what: 'locale', enabled: 'EnabledLocales', chosen: 'DefaultLocale' },
  { what: 'theme', enabled: 'EnabledThemes', chosen: 'DefaultTheme' },
] as const

/**
 * What is wrong with the defaults of a changed frontend config; null when nothing is. The list that counts is the nearest one
 * that is not empty: that of the layer itself, or of those it inherits from. Where none is set, any default is accepted.
 */
export function problemOfDefaults(change: Row, present: Row, inherited: readonly Row[]): string | null {
  const changed = { ...present, ...change }
  for (const { what, enabled, chosen } of pairs) {
    if (!(enabled in change) && !(chosen in change)) continue
    const value = (changed[chosen] ?? '') as string
    const lists = [changed, ...inherited].map((config) => (config[enabled] ?? []) as readonly string[])
    const list = lists.find(({ length }) => length > 0)
    if (value !== '' && list !== undefined && !list.includes(value))
      return `The default ${what} ${value} is not enabled; enabled are: ${list.join(', ')}. Enable it too, or choose one of these.`
  }
  return null
}
