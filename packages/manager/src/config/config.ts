// The only reader of process.env and of the configuration file. The settings themselves are declared in settings.ts and
// in the `settings` of each feature.
import { readConfigFile, readSecretFile, secretFileOf } from './files.ts'
import type { Setting, SettingsTable, ValuesOf } from './readers.ts'
import { platformSettings } from './settings.ts'
import { findUnknown } from './unknown-settings.ts'

type TemplateEnv = {
  [Name in 'SVC_ENV' | 'SVC_REGION' | 'APP_ENV' | 'DEPLOYMENT_ENV']?: string | undefined
}
/** The validated configuration, one typed value per setting; `settingsOf` reads the settings of features. */
export type Config = Omit<ValuesOf<typeof platformSettings>, 'masterKey'> & {
  masterKey: Buffer
  /** Environment variables that transformation templates may read. */
  templateEnv: TemplateEnv
}

/** Returns the values of one settings table. */
export const settingsOf = <Table extends SettingsTable>(config: Config, table: Table): ValuesOf<Table> =>
  Object.fromEntries(
    Object.keys(table).map((name) => [name, config[name as keyof Config]]),
  ) as ValuesOf<Table>

/** Joins the settings of platform and features; throws if two settings share a name, a key or a variable. */
export function joinSettings(tables: readonly SettingsTable[]): SettingsTable {
  const joined: SettingsTable = {}
  const seen = new Set<string>()
  for (const [name, item] of [platformSettings, ...tables].flatMap((table) =>
    Object.entries<SettingsTable[string]>(table),
  )) {
    const variables = item.secret ? [item.env, secretFileOf(item)] : [item.env]
    for (const taken of [
      `the name ${name}`,
      `the key ${item.key}`,
      ...variables.map((variable) => `the variable ${variable}`),
    ]) {
      if (seen.has(taken)) throw new Error(`two settings share ${taken}`)
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

/** Returns the sources of a configuration: the environment, and `file` or the path in SVC_CONFIG_FILE. */
export const sourceOf = (env: ConfigSource['env'], file = env['SVC_CONFIG_FILE']): ConfigSource => ({
  env,
  file,
})

/** Returns the configuration sources of this process. */
export const processSource = (): ConfigSource => sourceOf(process.env)

/** Reads, checks and returns the configuration; throws one ConfigError that lists all problems. */
export function loadConfig({ env, file }: ConfigSource, settings: SettingsTable): Config {
  const inFile = readConfigFile(file)
  const fromFile = 'problem' in inFile ? new Map<string, unknown>() : inFile.values
  const problems = 'problem' in inFile ? [inFile.problem] : []
  problems.push(...findUnknown(settings, env, fromFile))
  const config: Record<string, unknown> = {}
  const invalid = new Set<string>()
  for (const [name, item] of Object.entries(settings)) {
    const result = readSetting(item, findRaw(item, env, fromFile))
    if ('problem' in result) {
      problems.push(result.problem)
      invalid.add(name)
    }
    config[name] = 'problem' in result ? item.default : result.value
  }
  const { SVC_REGION, APP_ENV, DEPLOYMENT_ENV } = env
  config['templateEnv'] = { SVC_ENV: config['env'], SVC_REGION, APP_ENV, DEPLOYMENT_ENV }
  problems.push(...checkCombinations(config as Config, invalid))
  if (problems.length > 0) throw new ConfigError(problems)
  return config as Config
}

type AnySetting = Setting<unknown, boolean>
type Raw = { raw: unknown; where: string } | { problem: string }

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ''

/** Returns the raw value of a setting from its variable, its `_FILE` variable or its key in the configuration file. */
function findRaw(item: AnySetting, env: ConfigSource['env'], fromFile: ReadonlyMap<string, unknown>): Raw {
  const inEnv = env[item.env]
  const fileVariable = secretFileOf(item)
  const path = item.secret ? env[fileVariable] : undefined
  if (isSet(inEnv) && isSet(path))
    return { problem: `${item.env} and ${fileVariable} are both set; remove one of them` }
  if (isSet(path)) {
    const content = readSecretFile(fileVariable, path)
    return 'problem' in content
      ? content
      : { raw: content.value, where: `the content of the file that ${fileVariable} names` }
  }
  return isSet(inEnv)
    ? { raw: inEnv, where: item.env }
    : { raw: fromFile.get(item.key) ?? undefined, where: item.key }
}

function readSetting(item: AnySetting, given: Raw): { value: unknown } | { problem: string } {
  if ('problem' in given) return given
  if (given.raw === undefined) {
    if (item.default === undefined && !item.optional)
      return { problem: `${item.env} (${item.key}) is required: ${item.doc}` }
    return { value: item.default }
  }
  const result = item.read(given.raw)
  return 'problem' in result ? { problem: `${given.where} ${result.problem}` } : result
}

/** This key is public and protects nothing: only development falls back to it. */
const developmentMasterKey = Buffer.alloc(32, 'development')

function checkCombinations(config: Config, invalid: ReadonlySet<string>): string[] {
  const problems: string[] = []
  if (config.devUserOverride && config.env !== 'development')
    problems.push('SVC_DEV_USER_OVERRIDE_ENABLED is rejected unless SVC_ENV is development')
  if (config.masterKey === undefined && !invalid.has('masterKey')) {
    if (config.env === 'development') config.masterKey = developmentMasterKey
    else problems.push(`SVC_MASTER_KEY (master_key) is required: ${platformSettings.masterKey.doc}`)
  }
  const isSecretMissing = config.proxySecret === undefined && !invalid.has('proxySecret')
  if (config.proxySecretPrevious !== undefined && isSecretMissing)
    problems.push('SVC_PROXY_SECRET_PREVIOUS is set without SVC_PROXY_SECRET')
  if (!invalid.has('redisUrl') && !invalid.has('redisMode')) problems.push(...checkRedis(config, invalid))
  return problems
}

/** Settings of another Redis mode are rejected, because they would silently have no effect. */
function checkRedis(config: Config, invalid: ReadonlySet<string>): string[] {
  const { redisMode, redisNodes, redisMasterName, redisSentinelPassword, redisUrl } = config
  const problems: string[] = []
  const rejectInOtherModes = (
    isSet: boolean,
    variable: string,
    modes: readonly Config['redisMode'][],
  ): void => {
    if (isSet && !modes.includes(redisMode))
      problems.push(
        `${variable} is set, but SVC_REDIS_MODE (redis.mode) is ${redisMode}; set the mode to ${modes.join(' or ')}, or remove ${variable}`,
      )
  }
  rejectInOtherModes((redisNodes ?? []).length > 0, 'SVC_REDIS_NODES (redis.nodes)', ['sentinel', 'cluster'])
  rejectInOtherModes(redisMasterName !== undefined, 'SVC_REDIS_MASTER_NAME (redis.master_name)', ['sentinel'])
  rejectInOtherModes(
    redisSentinelPassword !== undefined,
    'SVC_REDIS_SENTINEL_PASSWORD (redis.sentinel_password)',
    ['sentinel'],
  )
  if (redisMode === 'sentinel' && redisMasterName === undefined && !invalid.has('redisMasterName'))
    problems.push(
      `SVC_REDIS_MASTER_NAME (redis.master_name) is required when SVC_REDIS_MODE (redis.mode) is sentinel: ${platformSettings.redisMasterName.doc}`,
    )
  if (redisMode === 'cluster' && !/^\/?0?$/.test(new URL(redisUrl).pathname))
    problems.push('SVC_REDIS_URL (redis.url) names a database, but a cluster has only database 0; remove it')
  return problems
}
