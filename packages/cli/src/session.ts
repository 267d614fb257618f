// Determines the address of the Manager and the credential of a command.
import { type Connection, connect } from '@manager/client'
import { findProfile } from './credentials.ts'
import { Failure } from './failures.ts'
import { readNamedFile } from './private-files.ts'
import { version } from './version.ts'
import type { Terminal } from './terminal.ts'

export type Target = { url?: string; profile: string; plainHttp?: boolean }

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
const headers = { 'user-agent': `svc/${version}` }
// The user waits for the result.
const maxRetries = 2

/** Validates and normalizes the address. Throws for plain HTTP to another host, unless the user allows it. */
export function checkedUrl(text: string, allowPlainHttp: boolean): string {
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

/** Returns the address from the option or the environment, or null. */
export function namedUrl({ env }: Terminal, { url, plainHttp = false }: Target): string | null {
  const named = url ?? env['SVC_URL']
  return named === undefined || named === '' ? null : checkedUrl(named, plainHttp)
}

/** Opens a connection; a login needs no token. `timeoutMs` limits the time until the response is complete. */
export const openConnection = (url: string, token?: string, timeoutMs?: number): Connection =>
  connect({ url, token, timeoutMs, headers, maxRetries })

/** Opens an authenticated connection. Throws if there is no credential. */
export async function signedInConnection(
  terminal: Terminal,
  target: Target,
  { timeoutMs }: { timeoutMs?: number } = {},
): Promise<Connection> {
  const { url, token } = await credentialFor(terminal, target)
  return openConnection(url, token, timeoutMs)
}

/** Returns the token of the environment, or the stored token for this address. */
async function credentialFor(terminal: Terminal, target: Target): Promise<{ url: string; token: string }> {
  const named = namedUrl(terminal, target)
  const given = await givenToken(terminal)
  if (given !== null && named !== null) return { url: named, token: given }
  const profile = await findProfile(terminal, target.profile)
  if (given !== null) {
    if (profile === null)
      throw new Failure('usage', 'There is a token but no address. Pass --url <address>, or set SVC_URL.')
    return { url: checkedUrl(profile.url, target.plainHttp ?? false), token: given }
  }
  if (profile === null)
    throw new Failure(
      'notSignedIn',
      `You are not signed in${profileText(target)}. Sign in with: svc login --url <address>`,
    )
  // A stored token is sent only to the Manager that issued it.
  if (named !== null && named !== profile.url)
    throw new Failure(
      'notSignedIn',
      `You are signed in to ${profile.url}, not to ${named}. Sign in with a separate profile: svc login --url ${named} --profile <name>`,
    )
  return { url: profile.url, token: profile.token }
}

const profileText = ({ profile }: Target): string => (profile === 'default' ? '' : ` with profile ${profile}`)

async function givenToken({ env }: Terminal): Promise<string | null> {
  const file = env['SVC_TOKEN_FILE'] ?? ''
  if (file === '')
    return (env['SVC_TOKEN'] ?? '') === '' ? null : checkedToken(env['SVC_TOKEN'] ?? '', 'SVC_TOKEN')
  // Any permissions are accepted, because orchestrators set their own on mounted secrets.
  return checkedToken(await readNamedFile(file), file)
}

/** Rejects a token that would break the header. The message names its source and never contains the token. */
function checkedToken(text: string, from: string): string {
  const token = text.trim()
  if (!/^[\w.~+/=-]{1,500}$/.test(token))
    throw new Failure('notSignedIn', `${from} does not contain a token.`)
  return token
}
