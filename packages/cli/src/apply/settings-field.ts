// Reads the `settings` key of the `apply` file.
import { Failure } from '../failures.ts'
import { pairsOf } from '../field-options.ts'
import type { SettingsChange } from '../settings.ts'
import { asMap, asTexts, rejectUnknownKeys } from './shapes.ts'

const text = (value: unknown, at: string): string => {
  if (typeof value !== 'string') throw new Failure('usage', `${at}: expected a string.`)
  return value
}
type Reader = (value: unknown, at: string) => unknown
/** Maps the keys of the file to the field names of the API and to the readers of their values. */
const parts: Readonly<Record<'backend' | 'frontend', Readonly<Record<string, [string, Reader]>>>> = {
  backend: { modules: ['EnabledModules', asTexts], pairs: ['KeyValuePairs', pairsOf] },
  frontend: {
    themes: ['EnabledThemes', asTexts],
    defaultTheme: ['DefaultTheme', text],
    locales: ['EnabledLocales', asTexts],
    defaultLocale: ['DefaultLocale', text],
    pairs: ['KeyValuePairs', pairsOf],
  },
}

/** Reads the settings that the file declares for a layer. */
export function readSettingsOf(value: unknown, at: string): SettingsChange {
  const map = asMap(value, at)
  rejectUnknownKeys(map, Object.keys(parts), at)
  const read = (side: 'backend' | 'frontend'): Record<string, unknown> => {
    const given = asMap(map[side] ?? {}, `${at}.${side}`)
    rejectUnknownKeys(given, Object.keys(parts[side]), `${at}.${side}`)
    return Object.fromEntries(
      Object.entries(parts[side]).flatMap(([name, [field, reader]]) =>
        given[name] === undefined ? [] : [[field, reader(given[name], `${at}.${side}.${name}`)]],
      ),
    )
  }
  return { backend: read('backend'), frontend: read('frontend') }
}
