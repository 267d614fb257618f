// Formats settings for `manager config print`, the configuration page and the example file. A reader that parses a
// formatted value returns the original value.
import { stringify } from 'yaml'
import type { Config } from './config.ts'
import type { Setting, SettingsTable } from './readers.ts'

type AnySetting = Setting<unknown, boolean>

const mask = '********'

/** Converts a value to its form in the configuration file. */
export const formatFileValue = (item: AnySetting, value: unknown): unknown => item.read.show?.(value) ?? value

/** Formats a value as the text of its environment variable. Lists become comma-separated text. */
export const formatEnvValue = (item: AnySetting, value: unknown): string =>
  String(formatFileValue(item, value))

/** Returns the effective configuration by dotted key, with every secret masked. */
export function maskConfig(config: Config, settings: SettingsTable): Record<string, unknown> {
  const entries = Object.entries(settings).map(([name, item]) => {
    const value = config[name as keyof Config]
    if (value === undefined) return [item.key, null]
    return [item.key, item.secret ? mask : formatFileValue(item, value)]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}

/**
 * Returns the effective configuration as a configuration file. Secrets become comments, so that the file stays valid
 * when they come from the environment. `notes` maps the key of a secret to details that may be published.
 */
export function formatConfigFile(
  config: Config,
  settings: SettingsTable,
  notes: Readonly<Record<string, string>>,
): string {
  const secrets = new Set(Object.values(settings).flatMap((item) => (item.secret ? [item.key] : [])))
  return Object.entries(maskConfig(config, settings))
    .map(([key, value]) => {
      if (value === null || !secrets.has(key)) return stringify({ [key]: value }, { lineWidth: 0 })
      return `# ${key}: ${mask}${notes[key] === undefined ? '' : ` (${notes[key]})`}\n`
    })
    .join('')
}
