// Types and helpers for hostile requests. Each case consists of the bytes to send and the allowed outcome.

export type Caller = { path: string; token: string }
export type Forwarded = {
  method?: string
  /** Expected body at the upstream; by default, the body is the hidden request. */
  body?: string
  query?: string
  /** Headers of the caller that are forwarded, with their values. */
  passes?: Record<string, string>
  /** The gateway closes the connection after the response. */
  closes?: boolean
}
type Hostile = { name: string; bytes: (caller: Caller) => string }
/** The response has exactly these statuses. The list is empty if the connection closes without a response. */
export type RefusedCase = Hostile & { refused: readonly number[] }
export type ForwardedCase = Hostile & { forwarded: Forwarded }
export type SmugglingCase = RefusedCase | ForwardedCase

export const crlf = '\r\n'
/** Returns a complete request, which a parser may mistake for a separate request. */
export const innerOf = ({ path, token }: Caller): string =>
  `GET ${path}?smuggled HTTP/1.1${crlf}Host: h${crlf}Authorization: Bearer ${token}${crlf}${crlf}`

type Text = string | ((caller: Caller) => string)
const textOf = (text: Text, caller: Caller): string => (typeof text === 'string' ? text : text(caller))

/** Builds a request with additional header lines. */
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
