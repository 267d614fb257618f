// The only reader of process.env and of the configuration file. What there is to configure: settings.ts, and the
// `settings` of each feature.
import { readFileSync } from 'node:fs'
import { parse as parseYaml } from 'yaml'
import { type Setting, type SettingsTable, type ValuesOf, flattenYaml } from './readers.ts'
import { platformSettings } from './settings.ts'

type TemplateEnv = {
  [Name in 'SVC_ENV' | 'SVC_REGION' | 'APP_ENV' | 'DEPLOYMENT_ENV']?: string | undefined
}
/** The validated configuration, one typed value per setting; those of features are read with `settingsOf`. */
export type Config = Omit<ValuesOf<typeof platformSettings>, 'masterKey'> & {
  masterKey: Buffer
  /** Variables of the environment that transformation templates may read. */
  templateEnv: TemplateEnv
}

/** The values of one table of settings. */
export const settingsOf = <Table extends SettingsTable>(config: Config, table: Table): ValuesOf<Table> =>
  Object.fromEntries(
    Object.keys(table).map((name) => [name, config[name as keyof Config]]),
  ) as ValuesOf<Table>

/** Joins the tables of the platform and of features; throws when two name the same. */
export function joinSettings(tables: readonly SettingsTable[]): SettingsTable {
  const joined: SettingsTable = {}
  const seen = new Set<string>()
  for (const [name, item] of [platformSettings, ...tables].flatMap((table) =>
    Object.entries<SettingsTable[string]>(table),
  )) {
    for (const taken of [`the name ${name}`, `the key ${item.key}`, `the variable ${item.env}`]) {
      if (seen.has(taken)) throw new Error(`two settings have ${taken}`)
      seen.add(taken)
    }
    joined[name] = item
  }
  return joined
}

/** Thrown with every problem found, so that one start reports all of them. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(`configuration has ${problems.length} problem(s):\n${problems.map((p) => `  - ${p}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type ConfigSource = { env: Record<string, string | undefined>; file?: string }

/** Where a process takes its configuration from: SVC_… variables and the file SVC_CONFIG_FILE names. */
export function processSource(file?: string): ConfigSource {
  return { env: process.env, file: file ?? process.env['SVC_CONFIG_FILE'] }
}

/** Reads, checks and returns the configuration; throws one ConfigError that lists all problems. */
export function loadConfig(source: ConfigSource, settings: SettingsTable): Config {
  const problems: string[] = []
  const fromFile = readFile(source.file, problems)
  refuseUnknown(settings, source.env, fromFile, problems)
  const config: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(settings)) {
    const inEnv = source.env[item.env]
    const raw = inEnv !== undefined && inEnv !== '' ? inEnv : fromFile.get(item.key)
    const where = inEnv !== undefined && inEnv !== '' ? item.env : item.key
    config[name] = readSetting(item, raw, where, problems)
  }
  const { SVC_REGION, APP_ENV, DEPLOYMENT_ENV } = source.env
  config['templateEnv'] = { SVC_ENV: config['env'], SVC_REGION, APP_ENV, DEPLOYMENT_ENV }
  checkTogether(config as Config, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return config as Config
}

function readSetting(
  item: Setting<unknown, boolean>,
  raw: unknown,
  where: string,
  problems: string[],
): unknown {
  if (raw === undefined || raw === null) {
    if (item.default === undefined && !item.optional)
      problems.push(`${item.env} (${item.key}) is required: ${item.doc}`)
    return item.default
  }
  const result = item.read(raw)
  if ('problem' in result) {
    problems.push(`${where} ${result.problem}`)
    return item.default
  }
  return result.value
}

function readFile(file: string | undefined, problems: string[]): Map<string, unknown> {
  if (file === undefined || file === '') return new Map()
  try {
    return flattenYaml(parseYaml(readFileSync(file, 'utf8')))
  } catch (error) {
    problems.push(`configuration file ${file} cannot be read: ${(error as Error).message}`)
    return new Map()
  }
}

function refuseUnknown(
  settings: SettingsTable,
  env: ConfigSource['env'],
  fromFile: Map<string, unknown>,
  problems: string[],
): void {
  const envNames = new Set<string>([
    ...Object.values(settings).map((s) => s.env),
    'SVC_CONFIG_FILE',
    'SVC_REGION',
  ])
  const keys = new Set<string>(Object.values(settings).map((s) => s.key))
  for (const name of Object.keys(env))
    if (name.startsWith('SVC_') && !envNames.has(name)) problems.push(`${name} is not a known setting`)
  for (const key of fromFile.keys())
    if (!keys.has(key)) problems.push(`${key} is not a known key of the configuration file`)
}

/** Well known, so it protects nothing: only development falls back to it. */
const developmentMasterKey = Buffer.alloc(32, 'development')

function checkTogether(config: Config, problems: string[]): void {
  if (config.devUserOverride && config.env !== 'development')
    problems.push('SVC_DEV_USER_OVERRIDE_ENABLED is refused unless SVC_ENV is development')
  const isKeyWrong = problems.some(
    (problem) => problem.startsWith(platformSettings.masterKey.env) || problem.startsWith('master_key'),
  )
  if (config.masterKey === undefined && !isKeyWrong) {
    if (config.env === 'development') config.masterKey = developmentMasterKey
    else problems.push(`SVC_MASTER_KEY (master_key) is required: ${platformSettings.masterKey.doc}`)
  }
  if (config.proxySecretPrevious !== undefined && config.proxySecret === undefined)
    problems.push('SVC_PROXY_SECRET_PREVIOUS is set without SVC_PROXY_SECRET')
}

/** The effective configuration by dotted key, with every secret masked. */
export function printableConfig(config: Config, settings: SettingsTable): Record<string, unknown> {
  const entries = Object.entries(settings).map(([name, item]) => {
    const value = config[name as keyof Config]
    return [item.key, item.secret && value !== undefined ? '********' : (value ?? null)]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}
