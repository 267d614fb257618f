// Checks that a default locale or theme is enabled.
import type { Row } from './output.ts'

const defaultFields = [
  { noun: 'locale', listField: 'EnabledLocales', defaultField: 'DefaultLocale' },
  { noun: 'theme', listField: 'EnabledThemes', defaultField: 'DefaultTheme' },
] as const

/**
 * Returns the problem with the default locale or theme of a changed frontend configuration, or null. A default
 * must be in the enabled list of the layer or, if that list is empty, in the nearest non-empty inherited list. If
 * all lists are empty, any default is accepted.
 */
export function findDefaultsProblem(change: Row, current: Row, inherited: readonly Row[]): string | null {
  const newConfig = { ...current, ...change }
  for (const { noun, listField, defaultField } of defaultFields) {
    if (!(listField in change) && !(defaultField in change)) continue
    const value = (newConfig[defaultField] ?? '') as string
    const lists = [newConfig, ...inherited].map((config) => (config[listField] ?? []) as readonly string[])
    const list = lists.find(({ length }) => length > 0)
    if (value !== '' && list !== undefined && !list.includes(value))
      return `The default ${noun} ${value} is not enabled. Enable it, or use one of: ${list.join(', ')}.`
  }
  return null
}
