// The address of the Manager and the credential. A connection has no open socket, so it is cheap and does not
// need to be closed.
import { checkNumber } from './options.ts'

export type ConnectOptions = {
  /** The address of the Manager, such as https://manager.example.com. */
  url: string
  /**
   * A machine token or personal access token. If it is a function, it is called before each attempt, so it can return
   * a new token.
   */
  token?: string | (() => string | Promise<string>)
  /** Headers that are sent with every request, such as a User-Agent. */
  headers?: Readonly<Record<string, string>>
  /** The timeout of an attempt, in milliseconds. The default is 30 s. */
  timeoutMs?: number
  /** The maximum number of retries of a request that is safe to repeat. The default is 4. */
  maxRetries?: number
  /** Replaces the global fetch function. */
  fetch?: typeof fetch
}
export type Connection = Required<Omit<ConnectOptions, 'token' | 'headers'>> & {
  readonly headers: Readonly<Record<string, string>>
  readonly token: () => Promise<string | null>
}

const defaultTimeoutMs = 30_000
const defaultRetries = 4

/** Creates a connection without sending anything. Throws a TypeError for invalid options. */
export function connect({ url, token, ...options }: ConnectOptions): Connection {
  // Omit the url from the message, because it contains credentials and errors are logged.
  if (url.includes('@'))
    throw new TypeError('url must not contain a user name or password; pass credentials as token or headers')
  if (!/^https?:\/\/[^/?#\\\s]+\/?$/.test(url) || !URL.canParse(url))
    throw new TypeError(`url must be http:// or https:// with a host and without a path: ${url}`)
  return {
    url: url.endsWith('/') ? url.slice(0, -1) : url,
    token: async () => (typeof token === 'function' ? await token() : (token ?? null)),
    headers: options.headers ?? {},
    timeoutMs: checkNumber('timeoutMs', options.timeoutMs ?? defaultTimeoutMs),
    maxRetries: checkNumber('maxRetries', options.maxRetries ?? defaultRetries, 0),
    fetch: options.fetch ?? ((...args) => fetch(...args)),
  }
}

/**
 * Returns the URL for a path and query. Throws a TypeError for a path that could send credentials elsewhere.
 */
export function getAddress({ url }: Connection, path: string): string {
  const [pathname = ''] = path.split(/[?#]/, 1)
  const isSafe = /^\/(?!\/)[^\\\p{Cc}]*$/u.test(path) && !/\/(\.|%2e){1,2} *(\/|$)/i.test(pathname)
  const address = isSafe ? URL.parse(url + path) : null
  if (address === null || address.origin !== new URL(url).origin)
    throw new TypeError(
      `path must start with one slash and must not contain "." or ".." segments, backslashes or control characters: ${pathname.slice(0, 200)}`,
    )
  return address.href
}

/**
 * Returns the Authorization header, or null if there is no token. Throws a TypeError if the token is malformed; the
 * message does not contain the token.
 */
export async function getAuthorization({ token }: Connection): Promise<string | null> {
  const value = await token()
  if (value !== null && !/^[!-~]+$/.test(value))
    throw new TypeError(
      'the token is empty or contains characters that are not allowed, such as spaces or line breaks',
    )
  return value === null ? null : `Bearer ${value}`
}
