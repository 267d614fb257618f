// The settings that a frontend of the old installation received. Clone settings override tenant settings, and tenant
// settings override project settings.
import type { Id, OldInstall, OldSetting, Owner } from './old-rows.ts'

type Pair = { key: string; value: string }
/** The fields, in the order in which the service returns them. */
export type Config = {
  enabled_modules: string[]
  enabled_themes: string[]
  default_theme: string
  enabled_locales: string[]
  default_locale: string
  key_value_pairs: Pair[]
}

const field = (config: unknown, name: string): unknown =>
  typeof config === 'object' && config !== null && !Array.isArray(config)
    ? (config as Record<string, unknown>)[name]
    : undefined
// A field with a wrong type, or with an entry of a wrong type, is ignored.
const isText = (value: unknown): value is string => typeof value === 'string'
const texts = (value: unknown): string[] => (Array.isArray(value) && value.every(isText) ? value : [])
const text = (value: unknown): string => (isText(value) ? value : '')

function pairs(value: unknown): Pair[] {
  if (!Array.isArray(value)) return []
  const all = value.map((entry: unknown) => ({ key: field(entry, 'Key'), value: field(entry, 'Value') }))
  return all.every((pair): pair is Pair => isText(pair.key) && isText(pair.value)) ? all : []
}

const emptyConfig: Config = {
  enabled_modules: [],
  enabled_themes: [],
  default_theme: '',
  enabled_locales: [],
  default_locale: '',
  key_value_pairs: [],
}

/**
 * Merges a layer into the result. An empty field inherits. A pair replaces the pair that has the same key, at the same
 * position.
 */
function override(below: Config, { backend, frontend }: Pick<OldSetting, 'backend' | 'frontend'>): Config {
  const either = <T extends string | string[]>(value: T, inherited: T): T =>
    value.length > 0 ? value : inherited
  const merged = [...below.key_value_pairs]
  for (const pair of pairs(field(frontend, 'KeyValuePairs'))) {
    const place = merged.findIndex(({ key }) => key === pair.key)
    if (place < 0) merged.push(pair)
    else merged[place] = pair
  }
  return {
    enabled_modules: either(texts(field(backend, 'EnabledModules')), below.enabled_modules),
    enabled_themes: either(texts(field(frontend, 'EnabledThemes')), below.enabled_themes),
    default_theme: either(text(field(frontend, 'DefaultTheme')), below.default_theme),
    enabled_locales: either(texts(field(frontend, 'EnabledLocales')), below.enabled_locales),
    default_locale: either(text(field(frontend, 'DefaultLocale')), below.default_locale),
    key_value_pairs: merged,
  }
}

/** Returns the configuration that the frontend of a clone receives. */
export function answeredConfig(install: OldInstall, ids: Record<Owner, Id>): Config {
  const layers = (['project', 'tenant', 'application'] as const).flatMap((owner) => {
    const row = install.settings.find((setting) => setting.owner === owner && setting.owner_id === ids[owner])
    return row === undefined ? [] : [row]
  })
  let config = emptyConfig
  for (const layer of layers) config = override(config, layer)
  return config
}
