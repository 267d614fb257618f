// What a configuration may say and yet is worth a warning: at start, and by `manager config check`.
import type { Config } from './config.ts'
import type { SettingsTable } from './readers.ts'

const minSecretLength = 32
const makeOne = 'make one with `openssl rand -base64 32`'

/** One sentence per warning; never a secret or its length. */
export function configWarnings(config: Config, settings: SettingsTable): string[] {
  const retired = Object.entries(settings)
    .filter(([name, item]) => item.retired === true && config[name as keyof Config] !== undefined)
    .map(([, { env, key }]) => `${env} (${key}) is set but has no effect; remove it`)
  if (config.env === 'development') return retired
  const { proxySecret, proxySecretPrevious, roles } = config
  const warnings: string[] = [...retired]
  if (proxySecret === undefined && roles.includes('api'))
    warnings.push(
      `SVC_PROXY_SECRET (proxy.secret) is not set, so every request to a gated route is answered 401; ${makeOne}, and let the proxy send it as X-Proxy-Auth`,
    )
  if (isShort(proxySecret))
    warnings.push(
      `SVC_PROXY_SECRET (proxy.secret) has fewer than ${minSecretLength} characters and may be guessed; ${makeOne}, and keep this one as SVC_PROXY_SECRET_PREVIOUS until every proxy sends the new one`,
    )
  if (isShort(proxySecretPrevious))
    warnings.push(
      `SVC_PROXY_SECRET_PREVIOUS (proxy.previous_secret) has fewer than ${minSecretLength} characters and may be guessed; remove it as soon as every proxy sends the current secret`,
    )
  return warnings
}

const isShort = (secret: string | undefined): boolean =>
  secret !== undefined && secret.length < minSecretLength
