// Reads the `settings` key of the `apply` file.
import { Failure } from '../failures.ts'
import { parsePairs } from '../field-options.ts'
import type { SettingsChange } from '../settings.ts'
import { asMap, asTexts, rejectUnknownKeys } from './shapes.ts'

const readText = (value: unknown, at: string): string => {
  if (typeof value !== 'string') throw new Failure('usage', `${at}: expected a string.`)
  return value
}
type Reader = (value: unknown, at: string) => unknown
/** Maps each key of the file to its field name in the API and to the function that reads its value. */
export const settingsFields: Readonly<
  Record<'backend' | 'frontend', Readonly<Record<string, [string, Reader]>>>
> = {
  backend: { modules: ['EnabledModules', asTexts], pairs: ['KeyValuePairs', parsePairs] },
  frontend: {
    themes: ['EnabledThemes', asTexts],
    defaultTheme: ['DefaultTheme', readText],
    locales: ['EnabledLocales', asTexts],
    defaultLocale: ['DefaultLocale', readText],
    pairs: ['KeyValuePairs', parsePairs],
  },
}

/** Reads the settings that the file declares for a layer. */
export function readLayerSettings(value: unknown, at: string): SettingsChange {
  const map = asMap(value, at)
  rejectUnknownKeys(map, Object.keys(settingsFields), at)
  const readSide = (side: 'backend' | 'frontend'): Record<string, unknown> => {
    const sideMap = asMap(map[side] ?? {}, `${at}.${side}`)
    rejectUnknownKeys(sideMap, Object.keys(settingsFields[side]), `${at}.${side}`)
    return Object.fromEntries(
      Object.entries(settingsFields[side]).flatMap(([name, [field, reader]]) =>
        sideMap[name] === undefined ? [] : [[field, reader(sideMap[name], `${at}.${side}.${name}`)]],
      ),
    )
  }
  return { backend: readSide('backend'), frontend: readSide('frontend') }
}
