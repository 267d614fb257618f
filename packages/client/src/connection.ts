// Where the Manager is, and who asks. It holds no socket: making one costs nothing, and there is nothing to close.
import { boundedNumber } from './options.ts'

export type ConnectOptions = {
  /** Where the Manager is reached, such as https://manager.example.com. */
  url: string
  /** A machine token or a personal access token; a function is asked before each attempt, so that a new one is seen. */
  token?: string | (() => string | Promise<string>)
  /** Sent with every request, such as the name of a program. */
  headers?: Readonly<Record<string, string>>
  /** How long an attempt may take, in milliseconds. */
  timeoutMs?: number
  /** How often a request is sent again when that is safe. */
  maxRetries?: number
  /** Sends requests instead of the platform's own. */
  fetch?: typeof fetch
}
export type Connection = Required<Omit<ConnectOptions, 'token' | 'headers'>> & {
  readonly headers: Readonly<Record<string, string>>
  readonly token: () => Promise<string | null>
}

const defaultTimeoutMs = 30_000
const defaultRetries = 4

/** Remembers where and who; sends nothing. */
export function connect({ url, token, ...options }: ConnectOptions): Connection {
  // Not shown, since errors are logged.
  if (url.includes('@'))
    throw new TypeError(
      'url must have no user name and no password; credentials are given as token or headers',
    )
  if (!/^https?:\/\/[^/?#\\\s]+\/?$/.test(url) || !URL.canParse(url))
    throw new TypeError(`url must be http:// or https:// with a host, and no path: ${url}`)
  return {
    url: url.endsWith('/') ? url.slice(0, -1) : url,
    token: async () => (typeof token === 'function' ? await token() : (token ?? null)),
    headers: options.headers ?? {},
    timeoutMs: boundedNumber('timeoutMs', options.timeoutMs ?? defaultTimeoutMs),
    maxRetries: boundedNumber('maxRetries', options.maxRetries ?? defaultRetries, 0),
    fetch: options.fetch ?? ((...args) => fetch(...args)),
  }
}

/** The address of a path and its query. Credentials go there: throws a TypeError for a path that may lead elsewhere. */
export function addressOf({ url }: Connection, path: string): string {
  const [place = ''] = path.split(/[?#]/, 1)
  const isPlain = /^\/(?!\/)[^\\\p{Cc}]*$/u.test(path) && !/\/(\.|%2e){1,2} *(\/|$)/i.test(place)
  const address = isPlain ? URL.parse(url + path) : null
  if (address === null || address.origin !== new URL(url).origin)
    throw new TypeError(
      `path must begin with one slash, and have no "." or ".." between slashes, no backslashes and no control characters: ${place.slice(0, 200)}`,
    )
  return address.href
}

/** The header that says who asks; null for nobody. Throws a TypeError, which does not tell it, for what is no token. */
export async function authorizationOf({ token }: Connection): Promise<string | null> {
  const value = await token()
  if (value !== null && !/^[!-~]+$/.test(value))
    throw new TypeError(
      'the token is empty, or has blanks, line breaks or other characters that no token has',
    )
  return value === null ? null : `Bearer ${value}`
}
