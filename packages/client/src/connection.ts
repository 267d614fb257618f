// Where the Manager is, and who asks. It holds no socket: making one costs nothing, and there is nothing to close.

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
  if (!/^https?:\/\/[^/?#]+\/?$/.test(url))
    throw new TypeError(`url must be http:// or https:// with a host, and no path: ${url}`)
  return {
    url: url.endsWith('/') ? url.slice(0, -1) : url,
    token: async () => (typeof token === 'function' ? await token() : (token ?? null)),
    headers: options.headers ?? {},
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    maxRetries: options.maxRetries ?? defaultRetries,
    fetch: options.fetch ?? ((...args) => fetch(...args)),
  }
}
