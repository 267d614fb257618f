// Reads the configuration. No other file reads process.env or the configuration file. settings.ts and the
// `settings` of each feature declare the settings.
import { checkDirectory } from './check-directory.ts'
import { directorySettings } from './directory-settings.ts'
import { readConfigFile, readSecretFile, getSecretFileVariable } from './files.ts'
import type { Setting, SettingsTable, ValuesOf } from './readers.ts'
import { platformSettings } from './settings.ts'
import { findUnknownSettings } from './unknown-settings.ts'

type TemplateEnv = {
  [Name in 'SVC_ENV' | 'SVC_REGION' | 'APP_ENV' | 'DEPLOYMENT_ENV']?: string | undefined
}
/**
 * The validated configuration, with one typed value per setting. `selectSettings` returns the settings of one feature.
 */
export type Config = Omit<ValuesOf<typeof platformSettings>, 'masterKey'> & {
  masterKey: Buffer
  /** Environment variables that transformation templates may read. */
  templateEnv: TemplateEnv
}

/** Returns the values of one settings table. */
export const selectSettings = <Table extends SettingsTable>(config: Config, table: Table): ValuesOf<Table> =>
  Object.fromEntries(
    Object.keys(table).map((name) => [name, config[name as keyof Config]]),
  ) as ValuesOf<Table>

/**
 * Joins the settings of the platform and of features. Throws if two settings share a name, a key or a
 * variable.
 */
export function joinSettings(tables: readonly SettingsTable[]): SettingsTable {
  const joinedSettings: SettingsTable = {}
  const usedNames = new Set<string>()
  for (const [name, item] of [platformSettings, ...tables].flatMap((table) =>
    Object.entries<SettingsTable[string]>(table),
  )) {
    const variables = item.secret ? [item.env, getSecretFileVariable(item)] : [item.env]
    for (const usedName of [
      `the name ${name}`,
      `the key ${item.key}`,
      ...variables.map((variable) => `the variable ${variable}`),
    ]) {
      if (usedNames.has(usedName)) throw new Error(`two settings share ${usedName}`)
      usedNames.add(usedName)
    }
    joinedSettings[name] = item
  }
  return joinedSettings
}

/** Contains all problems of a configuration, so that one start reports all of them. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    const lines = problems.map((problem) => `  - ${problem}`).join('\n')
    super(`the configuration is invalid (problems: ${problems.length}):\n${lines}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type ConfigSource = { env: Record<string, string | undefined>; file?: string }

/**
 * Returns the sources of a configuration: the environment, and the file at `file` or at the path in SVC_CONFIG_FILE.
 */
export const createConfigSource = (
  env: ConfigSource['env'],
  file = env['SVC_CONFIG_FILE'],
): ConfigSource => ({
  env,
  file,
})

/** Returns the configuration sources of this process. */
export const createProcessSource = (): ConfigSource => createConfigSource(process.env)

/** Reads and checks the configuration. Throws one ConfigError that lists all problems. */
export function loadConfig({ env, file }: ConfigSource, settings: SettingsTable): Config {
  const fileResult = readConfigFile(file)
  const fileValues = 'problem' in fileResult ? new Map<string, unknown>() : fileResult.values
  const problems = 'problem' in fileResult ? [fileResult.problem] : []
  problems.push(...findUnknownSettings(settings, env, fileValues))
  const config: Record<string, unknown> = {}
  const invalidNames = new Set<string>()
  for (const [name, item] of Object.entries(settings)) {
    const result = readSetting(item, findRawValue(item, env, fileValues))
    if ('problem' in result) {
      problems.push(result.problem)
      invalidNames.add(name)
    }
    config[name] = 'problem' in result ? item.default : result.value
  }
  const { SVC_REGION, APP_ENV, DEPLOYMENT_ENV } = env
  config['templateEnv'] = { SVC_ENV: config['env'], SVC_REGION, APP_ENV, DEPLOYMENT_ENV }
  problems.push(...checkCombinations(config as Config, invalidNames))
  if (problems.length > 0) throw new ConfigError(problems)
  return config as Config
}

type AnySetting = Setting<unknown, boolean>
type RawValue = { raw: unknown; where: string } | { problem: string }

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ''

/** Returns the raw value of a setting from its variable, its `_FILE` variable or its key in the configuration file. */
function findRawValue(
  item: AnySetting,
  env: ConfigSource['env'],
  fileValues: ReadonlyMap<string, unknown>,
): RawValue {
  const envValue = env[item.env]
  const fileVariable = getSecretFileVariable(item)
  const path = item.secret ? env[fileVariable] : undefined
  if (isSet(envValue) && isSet(path))
    return { problem: `${item.env} and ${fileVariable} are both set; remove one of them` }
  if (isSet(path)) {
    const content = readSecretFile(fileVariable, path)
    return 'problem' in content
      ? content
      : { raw: content.value, where: `the content of the file that ${fileVariable} names` }
  }
  return isSet(envValue)
    ? { raw: envValue, where: item.env }
    : { raw: fileValues.get(item.key) ?? undefined, where: item.key }
}

function readSetting(item: AnySetting, rawValue: RawValue): { value: unknown } | { problem: string } {
  if ('problem' in rawValue) return rawValue
  if (rawValue.raw === undefined) {
    if (item.default === undefined && !item.optional)
      return { problem: `${item.env} (${item.key}) is required: ${item.doc}` }
    return { value: item.default }
  }
  const result = item.read(rawValue.raw)
  return 'problem' in result ? { problem: `${rawValue.where} ${result.problem}` } : result
}

/** Used only in development: this key is public and protects nothing. */
const developmentMasterKey = Buffer.alloc(32, 'development')

function checkCombinations(config: Config, invalidNames: ReadonlySet<string>): string[] {
  const problems: string[] = []
  if (config.devUserOverride && config.env !== 'development')
    problems.push('SVC_DEV_USER_OVERRIDE_ENABLED is rejected unless SVC_ENV is development')
  if (config.masterKey === undefined && !invalidNames.has('masterKey')) {
    if (config.env === 'development') config.masterKey = developmentMasterKey
    else problems.push(`SVC_MASTER_KEY (master_key) is required: ${platformSettings.masterKey.doc}`)
  }
  const isSecretMissing = config.proxySecret === undefined && !invalidNames.has('proxySecret')
  if (config.proxySecretPrevious !== undefined && isSecretMissing)
    problems.push(
      'SVC_PROXY_SECRET_PREVIOUS is set without SVC_PROXY_SECRET; set SVC_PROXY_SECRET to the current secret',
    )
  if (!invalidNames.has('redisUrl') && !invalidNames.has('redisMode'))
    problems.push(...checkRedis(config, invalidNames))
  if (!invalidNames.has('userProvider'))
    problems.push(
      ...checkDirectory(config.userProvider, selectSettings(config, directorySettings), invalidNames),
    )
  return problems
}

/**
 * Checks the Redis settings. Settings of a different Redis mode are rejected, because they would silently
 * have no effect.
 */
function checkRedis(config: Config, invalidNames: ReadonlySet<string>): string[] {
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
  if (redisMode === 'sentinel' && redisMasterName === undefined && !invalidNames.has('redisMasterName'))
    problems.push(
      `SVC_REDIS_MASTER_NAME (redis.master_name) is required when SVC_REDIS_MODE (redis.mode) is sentinel: ${platformSettings.redisMasterName.doc}`,
    )
  if (redisMode === 'cluster' && !/^\/?0?$/.test(new URL(redisUrl).pathname))
    problems.push(
      'SVC_REDIS_URL (redis.url) names a database, but a cluster has only database 0; remove it from the URL',
    )
  return problems
}
