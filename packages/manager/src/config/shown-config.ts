// How settings are written for people: by `manager config print`, on the configuration page and in the example file.
// What is written here is read again as the same value.
import { stringify } from 'yaml'
import type { Config } from './config.ts'
import type { Setting, SettingsTable } from './readers.ts'

type AnySetting = Setting<unknown, boolean>

const mask = '********'

/** A value as the configuration file holds it. */
export const fileValue = (item: AnySetting, value: unknown): unknown => item.read.show?.(value) ?? value

/** A value as its environment variable holds it; a list becomes a text with commas. */
export const envText = (item: AnySetting, value: unknown): string => String(fileValue(item, value))

/** The effective configuration by dotted key, with every secret masked. */
export function printableConfig(config: Config, settings: SettingsTable): Record<string, unknown> {
  const entries = Object.entries(settings).map(([name, item]) => {
    const value = config[name as keyof Config]
    if (value === undefined) return [item.key, null]
    return [item.key, item.secret ? mask : fileValue(item, value)]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}

/**
 * The same as a configuration file. Secrets that are set are comments, so that the file is accepted where they come
 * from the environment; `notes` says by key what may be known of one.
 */
export function configText(
  config: Config,
  settings: SettingsTable,
  notes: Readonly<Record<string, string>>,
): string {
  const secrets = new Set(Object.values(settings).flatMap((item) => (item.secret ? [item.key] : [])))
  return Object.entries(printableConfig(config, settings))
    .map(([key, value]) => {
      if (value === null || !secrets.has(key)) return stringify({ [key]: value }, { lineWidth: 0 })
      return `# ${key}: ${mask}${notes[key] === undefined ? '' : ` (${notes[key]})`}\n`
    })
    .join('')
}
