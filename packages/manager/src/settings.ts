// Every setting of the service: those of the platform, and the tables that features have in their `.settings.ts` files.
// They are found by name, so that a command reads its configuration without loading every feature.
import { globSync } from 'node:fs'
import { joinSettings } from './config/config.ts'
import type { SettingsTable } from './config/readers.ts'

const files = globSync('features/*/*.settings.ts', { cwd: import.meta.dirname }).toSorted()
const tables = await Promise.all(
  files.map(async (file) => Object.values((await import(`./${file}`)) as Record<string, SettingsTable>)),
)

export const settings = joinSettings(tables.flat())
