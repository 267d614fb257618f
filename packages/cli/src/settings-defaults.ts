// Checks that a default locale or theme is enabled.
import type { Row } from './output.ts'

const defaultFields = [
  { noun: 'locale', listField: 'EnabledLocales', defaultField: 'DefaultLocale' },
  { noun: 'theme', listField: 'EnabledThemes', defaultField: 'DefaultTheme' },
] as const

/**
 * Returns the problem with the defaults of a changed frontend configuration, or null. The nearest non-empty
 * list applies: that of the layer itself, or that of a layer it inherits from. If no list is set, any default
 * is accepted.
 */
export function findDefaultsProblem(change: Row, present: Row, inherited: readonly Row[]): string | null {
  const newConfig = { ...present, ...change }
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
