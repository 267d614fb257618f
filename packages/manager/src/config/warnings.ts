// Warnings about valid but questionable configurations, logged at startup and printed by `manager config check`.
import type { Config } from './config.ts'
import type { SettingsTable } from './readers.ts'

const minSecretLength = 32
const createSecretHint = 'create one with `openssl rand -base64 32`'

/** Returns one sentence per warning. No sentence contains a secret or its length. */
export function findConfigWarnings(config: Config, settings: SettingsTable): string[] {
  const retiredWarnings = Object.entries(settings)
    .filter(([name, item]) => item.isRetired === true && config[name as keyof Config] !== undefined)
    .map(([, { env, key }]) => `${env} (${key}) is set but has no effect; remove it`)
  if (config.env === 'development') return retiredWarnings
  const { proxySecret, proxySecretPrevious, roles } = config
  const warnings: string[] = [...retiredWarnings]
  if (proxySecret === undefined && roles.includes('api'))
    warnings.push(
      `SVC_PROXY_SECRET (proxy.secret) is not set, so every gated route returns 401; ${createSecretHint}, and configure the proxy to send it as X-Proxy-Auth`,
    )
  if (isShort(proxySecret))
    warnings.push(
      `SVC_PROXY_SECRET (proxy.secret) has fewer than ${minSecretLength} characters and may be guessed; ${createSecretHint}, and keep the current one as SVC_PROXY_SECRET_PREVIOUS until every proxy sends the new one`,
    )
  if (isShort(proxySecretPrevious))
    warnings.push(
      `SVC_PROXY_SECRET_PREVIOUS (proxy.previous_secret) has fewer than ${minSecretLength} characters and may be guessed; remove it as soon as every proxy sends the current secret`,
    )
  return warnings
}

const isShort = (secret: string | undefined): boolean =>
  secret !== undefined && secret.length < minSecretLength
