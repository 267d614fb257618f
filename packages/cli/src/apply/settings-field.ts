// `settings` in the file of `apply`.
import { Failure } from '../failures.ts'
import { pairsOf } from '../field-options.ts'
import type { SettingsChange } from '../settings.ts'
import { asMap, asTexts, unknownKeys } from './shapes.ts'

const text = (value: unknown, at: string): string => {
  if (typeof value !== 'string') throw new Failure('usage', `${at}: a text is expected.`)
  return value
}
type Reader = (value: unknown, at: string) => unknown
/** Names in the file, the names of the API, and what they hold. */
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

/** What a layer shall set. */
export function readSettingsOf(value: unknown, at: string): SettingsChange {
  const map = asMap(value, at)
  unknownKeys(map, Object.keys(parts), at)
  const read = (side: 'backend' | 'frontend'): Record<string, unknown> => {
    const given = asMap(map[side] ?? {}, `${at}.${side}`)
    unknownKeys(given, Object.keys(parts[side]), `${at}.${side}`)
    return Object.fromEntries(
      Object.entries(parts[side]).flatMap(([name, [field, reader]]) =>
        given[name] === undefined ? [] : [[field, reader(given[name], `${at}.${side}.${name}`)]],
      ),
    )
  }
  return { backend: read('backend'), frontend: read('frontend') }
}
