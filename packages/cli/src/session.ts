// Which Manager a command asks, and with which credential.
import { type Connection, connect } from '@manager/client'
import { findProfile } from './credentials.ts'
import { Failure } from './failures.ts'
import { readNamedFile } from './private-files.ts'
import { version } from './version.ts'
import type { World } from './world.ts'

export type Place = { url?: string; profile: string; plainHttp?: boolean }

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
const headers = { 'user-agent': `svc/${version}` }
// A person waits for it.
const maxRetries = 2

/** The address as it is kept; a credential goes over plain HTTP only where that is asked for. */
export function checkedUrl(text: string, isPlainHttpFine: boolean): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Failure('usage', `The address must begin with https://, unlike: ${text}`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new Failure('usage', 'The address must have no user name, query or fragment.')
  if (url.protocol === 'http:' && !loopback.test(url.hostname) && !isPlainHttpFine)
    throw new Failure(
      'usage',
      `${url.origin} is not encrypted, and everybody on the way can read the token. Use https://, or add --plain-http.`,
    )
  return url.href.replace(/\/$/, '')
}

/** The address that is named by option or environment, or null. */
export function namedUrl({ env }: World, { url, plainHttp = false }: Place): string | null {
  const named = url ?? env['SVC_URL']
  return named === undefined || named === '' ? null : checkedUrl(named, plainHttp)
}

/** A connection with this token; without a credential for a login. `timeoutMs` is how long a whole answer may take. */
export const openConnection = (url: string, token?: string, timeoutMs?: number): Connection =>
  connect({ url, token, timeoutMs, headers, maxRetries })

/** A connection as the person; throws when nobody is signed in. */
export async function signedInConnection(
  world: World,
  place: Place,
  { timeoutMs }: { timeoutMs?: number } = {},
): Promise<Connection> {
  const { url, token } = await credentialFor(world, place)
  return openConnection(url, token, timeoutMs)
}

/** The credential of the environment, or the one that is kept for this address. */
async function credentialFor(world: World, place: Place): Promise<{ url: string; token: string }> {
  const named = namedUrl(world, place)
  const given = await givenToken(world)
  if (given !== null && named !== null) return { url: named, token: given }
  const profile = await findProfile(world, place.profile)
  if (given !== null) {
    if (profile === null)
      throw new Failure('usage', 'A token is given, and no address. Add --url <address>, or set SVC_URL.')
    return { url: checkedUrl(profile.url, place.plainHttp ?? false), token: given }
  }
  if (profile === null)
    throw new Failure(
      'notSignedIn',
      `Nobody is signed in${inProfile(place)}. Sign in with: svc login --url <address>`,
    )
  // A token goes to the Manager that issued it and nowhere else.
  if (named !== null && named !== profile.url)
    throw new Failure(
      'notSignedIn',
      `You are signed in to ${profile.url}, not to ${named}. Sign in there under a name of its own: svc login --url ${named} --profile <name>`,
    )
  return { url: profile.url, token: profile.token }
}

const inProfile = ({ profile }: Place): string => (profile === 'default' ? '' : ` in the profile ${profile}`)

async function givenToken({ env }: World): Promise<string | null> {
  const file = env['SVC_TOKEN_FILE'] ?? ''
  if (file === '')
    return (env['SVC_TOKEN'] ?? '') === '' ? null : checkedToken(env['SVC_TOKEN'] ?? '', 'SVC_TOKEN')
  // Orchestrators mount secrets with rights of their own.
  return checkedToken(await readNamedFile(file), file)
}

/** A token that would break the header is told by its place, and never shown. */
function checkedToken(text: string, from: string): string {
  const token = text.trim()
  if (!/^[\w.~+/=-]{1,500}$/.test(token)) throw new Failure('notSignedIn', `${from} does not hold a token.`)
  return token
}
