// The only reader of process.env and of the configuration file. What there is to configure: settings.ts, and the
// `settings` of each feature.
import { readConfigFile, readSecretFile, secretFileOf } from './files.ts'
import type { Setting, SettingsTable, ValuesOf } from './readers.ts'
import { platformSettings } from './settings.ts'
import { findUnknown } from './unknown-settings.ts'

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
    const variables = item.secret ? [item.env, secretFileOf(item)] : [item.env]
    for (const taken of [
      `the name ${name}`,
      `the key ${item.key}`,
      ...variables.map((variable) => `the variable ${variable}`),
    ]) {
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

/** The sources of a configuration: SVC_… variables, and the named file or the one that SVC_CONFIG_FILE names. */
export const sourceOf = (env: ConfigSource['env'], file = env['SVC_CONFIG_FILE']): ConfigSource => ({
  env,
  file,
})

/** The sources of the configuration of this process. */
export const processSource = (): ConfigSource => sourceOf(process.env)

/** Reads, checks and returns the configuration; throws one ConfigError that lists all problems. */
export function loadConfig({ env, file }: ConfigSource, settings: SettingsTable): Config {
  const inFile = readConfigFile(file)
  const fromFile = 'problem' in inFile ? new Map<string, unknown>() : inFile.values
  const problems = 'problem' in inFile ? [inFile.problem] : []
  problems.push(...findUnknown(settings, env, fromFile))
  const config: Record<string, unknown> = {}
  const refused = new Set<string>()
  for (const [name, item] of Object.entries(settings)) {
    const result = readSetting(item, findRaw(item, env, fromFile))
    if ('problem' in result) {
      problems.push(result.problem)
      refused.add(name)
    }
    config[name] = 'problem' in result ? item.default : result.value
  }
  const { SVC_REGION, APP_ENV, DEPLOYMENT_ENV } = env
  config['templateEnv'] = { SVC_ENV: config['env'], SVC_REGION, APP_ENV, DEPLOYMENT_ENV }
  problems.push(...checkTogether(config as Config, refused))
  if (problems.length > 0) throw new ConfigError(problems)
  return config as Config
}

type AnySetting = Setting<unknown, boolean>
type Raw = { raw: unknown; where: string } | { problem: string }

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ''

/** What is given for a setting: its variable, the file its variable names, or its key in the configuration file. */
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

/** Well known, so it protects nothing: only development falls back to it. */
const developmentMasterKey = Buffer.alloc(32, 'development')

function checkTogether(config: Config, refused: ReadonlySet<string>): string[] {
  const problems: string[] = []
  if (config.devUserOverride && config.env !== 'development')
    problems.push('SVC_DEV_USER_OVERRIDE_ENABLED is refused unless SVC_ENV is development')
  if (config.masterKey === undefined && !refused.has('masterKey')) {
    if (config.env === 'development') config.masterKey = developmentMasterKey
    else problems.push(`SVC_MASTER_KEY (master_key) is required: ${platformSettings.masterKey.doc}`)
  }
  const isSecretMissing = config.proxySecret === undefined && !refused.has('proxySecret')
  if (config.proxySecretPrevious !== undefined && isSecretMissing)
    problems.push('SVC_PROXY_SECRET_PREVIOUS is set without SVC_PROXY_SECRET')
  if (!refused.has('redisUrl') && !refused.has('redisMode')) problems.push(...checkRedis(config, refused))
  return problems
}

/** Settings of another way of running Redis would be without effect, and what they were meant for would not happen. */
function checkRedis(config: Config, refused: ReadonlySet<string>): string[] {
  const { redisMode, redisNodes, redisMasterName, redisSentinelPassword, redisUrl } = config
  const problems: string[] = []
  const isOther = (isSet: boolean, variable: string, modes: readonly Config['redisMode'][]): void => {
    if (isSet && !modes.includes(redisMode))
      problems.push(
        `${variable} is set, but SVC_REDIS_MODE (redis.mode) is ${redisMode}; set the mode to ${modes.join(' or ')}, or remove ${variable}`,
      )
  }
  isOther((redisNodes ?? []).length > 0, 'SVC_REDIS_NODES (redis.nodes)', ['sentinel', 'cluster'])
  isOther(redisMasterName !== undefined, 'SVC_REDIS_MASTER_NAME (redis.master_name)', ['sentinel'])
  isOther(redisSentinelPassword !== undefined, 'SVC_REDIS_SENTINEL_PASSWORD (redis.sentinel_password)', [
    'sentinel',
  ])
  if (redisMode === 'sentinel' && redisMasterName === undefined && !refused.has('redisMasterName'))
    problems.push(
      `SVC_REDIS_MASTER_NAME (redis.master_name) is required when SVC_REDIS_MODE (redis.mode) is sentinel: ${platformSettings.redisMasterName.doc}`,
    )
  if (redisMode === 'cluster' && !/^\/?0?$/.test(new URL(redisUrl).pathname))
    problems.push('SVC_REDIS_URL (redis.url) names a database, but a cluster has only database 0; remove it')
  return problems
}
