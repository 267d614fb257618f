// Determines the address of the Manager and the credential for a command.
import { type Connection, connect } from '@manager/client'
import { findProfile } from './credentials.ts'
import { Failure } from './failures.ts'
import { readNamedFile } from './private-files.ts'
import { version } from './version.ts'
import type { Terminal } from './terminal.ts'

export type Target = { url?: string; profile: string; plainHttp?: boolean }

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
const headers = { 'user-agent': `svc/${version}` }
// Few retries, because the user waits for the result.
const maxRetries = 2

/**
 * Validates and normalizes the address. Throws for plain HTTP to a remote host, unless the user allows it.
 */
export function checkUrl(text: string, allowPlainHttp: boolean): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Failure('usage', `The address must start with https://: ${text}`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new Failure('usage', 'The address must not contain a user name, query or fragment.')
  if (url.protocol === 'http:' && !loopback.test(url.hostname) && !allowPlainHttp)
    throw new Failure(
      'usage',
      `${url.origin} is not encrypted: others on the network can read the token. Use https://, or pass --plain-http.`,
    )
  return url.href.replace(/\/$/, '')
}

/** Returns the address from the option or the environment, or null if neither is set. */
export function getConfiguredUrl({ env }: Terminal, { url, plainHttp = false }: Target): string | null {
  const address = url ?? env['SVC_URL']
  return address === undefined || address === '' ? null : checkUrl(address, plainHttp)
}

/** Opens a connection. A login needs no token. `timeoutMs` limits the time until the response is complete. */
export const openConnection = (url: string, token?: string, timeoutMs?: number): Connection =>
  connect({ url, token, timeoutMs, headers, maxRetries })

/** Opens an authenticated connection. Throws if there is no credential. */
export async function openAuthenticatedConnection(
  terminal: Terminal,
  target: Target,
  { timeoutMs }: { timeoutMs?: number } = {},
): Promise<Connection> {
  const { url, token } = await getCredential(terminal, target)
  return openConnection(url, token, timeoutMs)
}

/** Returns the token from the environment, or the stored token for this address. */
export async function getCredential(
  terminal: Terminal,
  target: Target,
): Promise<{ url: string; token: string }> {
  const optionUrl = getConfiguredUrl(terminal, target)
  const envToken = await readEnvToken(terminal)
  if (envToken !== null && optionUrl !== null) return { url: optionUrl, token: envToken }
  const profile = await findProfile(terminal, target.profile)
  if (envToken !== null) {
    if (profile === null)
      throw new Failure(
        'usage',
        'A token is set, but the address is missing. Pass --url <address>, or set SVC_URL.',
      )
    return { url: checkUrl(profile.url, target.plainHttp ?? false), token: envToken }
  }
  if (profile === null)
    throw new Failure(
      'notSignedIn',
      `You are not signed in${formatProfile(target)}. Sign in with: svc login --url <address>`,
    )
  // A stored token is sent only to the Manager that issued it.
  if (optionUrl !== null && optionUrl !== profile.url)
    throw new Failure(
      'notSignedIn',
      `You are signed in to ${profile.url}, not to ${optionUrl}. Sign in with a separate profile: svc login --url ${optionUrl} --profile <name>`,
    )
  return { url: profile.url, token: profile.token }
}

const formatProfile = ({ profile }: Target): string =>
  profile === 'default' ? '' : ` with profile ${profile}`

async function readEnvToken({ env }: Terminal): Promise<string | null> {
  const file = env['SVC_TOKEN_FILE'] ?? ''
  if (file === '')
    return (env['SVC_TOKEN'] ?? '') === '' ? null : checkToken(env['SVC_TOKEN'] ?? '', 'SVC_TOKEN')
  // Accept any file permissions, because orchestrators set their own permissions on mounted secrets.
  return checkToken(await readNamedFile(file), file)
}

/**
 * Rejects a token that is invalid in a header. The message names the source of the token but never contains
 * the token.
 */
function checkToken(text: string, source: string): string {
  const token = text.trim()
  if (!/^[\w.~+/=-]{1,500}$/.test(token))
    throw new Failure('notSignedIn', `${source} does not contain a token.`)
  return token
}
