// How hostile requests are written down: each as its bytes, with what may become of it.

export type Caller = { path: string; token: string }
export type Forwarded = {
  method?: string
  /** The hidden request, where nothing is said. */
  body?: string
  query?: string
  /** Headers of the caller that pass, with their values. */
  passes?: Record<string, string>
  /** The connection is not kept. */
  closes?: boolean
}
type Hostile = { name: string; bytes: (caller: Caller) => string }
/** Answered with exactly these statuses; none where the connection is closed without an answer. */
export type RefusedCase = Hostile & { refused: readonly number[] }
export type ForwardedCase = Hostile & { forwarded: Forwarded }
export type SmugglingCase = RefusedCase | ForwardedCase

export const crlf = '\r\n'
/** A request of its own for any reader that takes it for one. */
export const innerOf = ({ path, token }: Caller): string =>
  `GET ${path}?smuggled HTTP/1.1${crlf}Host: h${crlf}Authorization: Bearer ${token}${crlf}${crlf}`

type Text = string | ((caller: Caller) => string)
const textOf = (text: Text, caller: Caller): string => (typeof text === 'string' ? text : text(caller))

/** A request with one more line or several in its head. */
export const request =
  (line: (path: string) => string, more: Text, body: Text = '') =>
  (caller: Caller): string => {
    const own = [line(caller.path), 'Host: h', `Authorization: Bearer ${caller.token}`]
    return [...own, ...[textOf(more, caller)].filter(Boolean), '', textOf(body, caller)].join(crlf)
  }
export const post = (more: Text, body: Text = 'hello') =>
  request((path) => `POST ${path} HTTP/1.1`, more, body)
export const get = (target: (path: string) => string, more = '') =>
  request((path) => `GET ${target(path)} HTTP/1.1`, more)

export const malformed = [400]
export const length5 = 'Content-Length: 5'
export const chunked = 'Transfer-Encoding: chunked'
export const inChunks = (text: string): string =>
  `${text.length.toString(16)}${crlf}${text}${crlf}0${crlf}${crlf}`
export const lines = (...headers: string[]): string => headers.join(crlf)
export const shown = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
