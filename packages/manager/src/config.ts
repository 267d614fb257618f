// The only reader of process.env and of the configuration file. What there is to configure: config-settings.ts.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parse as parseYaml } from 'yaml'
import { type Setting, flattenYaml } from './config-readers.ts'
import { settings } from './config-settings.ts'

type Settings = typeof settings
type TemplateEnv = {
  [Name in 'SVC_ENV' | 'SVC_REGION' | 'APP_ENV' | 'DEPLOYMENT_ENV']?: string | undefined
}
type ValueOf<S> =
  S extends Setting<infer T, infer Optional> ? (Optional extends true ? T | undefined : T) : never
/** The validated configuration, one typed value per setting. */
export type Config = Omit<Values, 'masterKey'> & {
  masterKey: Buffer
  /** Variables of the environment that transformation templates may read. */
  templateEnv: TemplateEnv
}
type Values = { [Name in keyof Settings]: ValueOf<Settings[Name]> }

/** Thrown with every problem found, so that one start tells all of them. */
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
export function loadConfig(source: ConfigSource): Config {
  const problems: string[] = []
  const fromFile = readFile(source.file, problems)
  refuseUnknown(source.env, fromFile, problems)
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

function refuseUnknown(env: ConfigSource['env'], fromFile: Map<string, unknown>, problems: string[]): void {
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
    (problem) => problem.startsWith(settings.masterKey.env) || problem.startsWith('master_key'),
  )
  if (config.masterKey === undefined && !isKeyWrong) {
    if (config.env === 'development') config.masterKey = developmentMasterKey
    else problems.push(`SVC_MASTER_KEY (master_key) is required: ${settings.masterKey.doc}`)
  }
  if (config.proxySecretPrevious !== undefined && config.proxySecret === undefined)
    problems.push('SVC_PROXY_SECRET_PREVIOUS is set without SVC_PROXY_SECRET')
}

/** The effective configuration by dotted key, with every secret masked. */
export function printableConfig(config: Config): Record<string, unknown> {
  const entries = Object.entries(settings).map(([name, item]) => {
    const value = config[name as keyof Config]
    return [item.key, item.secret && value !== undefined ? '********' : (value ?? null)]
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}

/** The settings of transformations, as they take them. */
export const transformOptions = (config: Config) => ({
  builtins: config.esbTemplateBuiltins,
  env: config.templateEnv,
  maxOutputBytes: config.esbMaxRequestBytes,
})

/** The limits of forwarded calls, as the gateway takes them. */
export const gatewayLimits = (config: Config) => ({
  maxResponseBytes: config.esbMaxResponseBytes,
  forwardTimeoutMs: config.esbForwardTimeoutMs,
  maxHeldBytes: config.esbMaxHeldBytes,
  body: {
    maxBytes: config.esbMaxRequestBytes,
    timeoutMs: config.esbBodyTimeoutMs,
    stallMs: config.esbBodyStallMs,
  },
})

/** The settings of connections to upstreams; what this process itself is built on is never one of them. */
export const outboundOptions = (config: Config) => ({
  allowedCidrs: config.esbAllowedCidrs,
  deniedCidrs: config.esbDeniedCidrs,
  ownServices: [
    serviceOf(config.databaseUrl, 5432),
    serviceOf(config.redisUrl, 6379),
    { host: config.healthHost, port: config.healthPort },
    // A socket file is no host.
  ].filter(({ host }) => host !== ''),
  maxPerOrigin: config.esbMaxCallsPerOrigin,
  connectTimeoutMs: Math.min(10_000, config.esbForwardTimeoutMs),
})
const serviceOf = (url: string, defaultPort: number): { host: string; port: number } => {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: port === '' ? defaultPort : Number(port) }
}

/** What takes open files beside the connections from and to others. */
export const connectionNeeds = (config: Config) => ({
  database:
    config.databasePoolSize +
    config.databaseLookupPoolSize +
    config.databaseContentPoolSize +
    2 * config.databaseLogPoolSize +
    readinessConnections,
  threads: (config.kdfThreads ?? availableParallelism()) + renderThreads,
  maxApi: config.maxConnections,
  maxOutbound: config.esbMaxConnections,
})
const [readinessConnections, renderThreads] = [1, 2]

/** The settings of the credential parts, as they take them. */
export const credentialOptions = (config: Config) => ({
  threads: config.kdfThreads,
  maxQueue: config.kdfMaxQueue,
  maxRemembered: config.maxRemembered,
  limits: {
    validate: {
      failures: config.validateThrottleFailures,
      windowMs: config.validateThrottleWindowMs,
      blockMs: config.validateThrottleBlockMs,
      maxBlockMs: config.validateThrottleBlockMs,
    },
    basic: {
      failures: config.basicThrottleFailures,
      windowMs: config.basicThrottleWindowMs,
      blockMs: config.basicThrottleBlockMs,
      maxBlockMs: config.basicThrottleBlockMs,
    },
    machine: {
      failures: config.machineThrottleFailures,
      windowMs: config.machineThrottleWindowMs,
      blockMs: config.machineThrottleBlockMs,
      maxBlockMs: config.machineThrottleMaxBlockMs,
    },
    forgery: {
      failures: config.forgeryThrottleFailures,
      windowMs: config.forgeryThrottleWindowMs,
      blockMs: config.forgeryThrottleBlockMs,
      maxBlockMs: config.forgeryThrottleBlockMs,
    },
  },
})
