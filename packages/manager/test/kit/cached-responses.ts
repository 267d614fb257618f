// Requests the responses that the trusted proxy fetches and that clients cache, and checks the rules for all of these
// responses.
import { expect } from 'vitest'
import type { TestApp } from './app.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type RawAnswer, rawCall } from './http.ts'

export const secret: [string, string] = ['x-proxy-auth', proxySecret]

export type ProxyCall = { method?: string; headers?: [string, string][]; app?: TestApp }

/** Sends a request with the proxy secret, as the trusted proxy would. */
export const requestThroughProxy = (
  app: TestApp,
  path: string,
  { method = 'GET', headers = [] }: ProxyCall = {},
): Promise<RawAnswer> => rawCall(app.url, { method, path, headers: [secret, ...headers] })

export const etagOf = ({ headers }: RawAnswer): string => headers['etag'] as string

/** Builds If-None-Match headers, one header line per value. */
export const ifNoneMatch = (...lines: string[]): ProxyCall => ({
  headers: lines.map((line) => ['if-none-match', line]),
})

/** Expects a 404 response with this message and headers that forbid caching. */
export function expectNotFound({ status, body, headers }: RawAnswer, text: string): void {
  expect([status, JSON.parse(body)]).toEqual([404, expect.objectContaining({ error: text })])
  expect([headers['cache-control'], headers['etag']]).toEqual(['no-store', undefined])
}

/** Expects that the path requires only the proxy secret and no user or token. */
export async function expectSecretOnly(app: TestApp, path: string, userId: string): Promise<void> {
  const full = await requestThroughProxy(app, path)
  const people: [string, string][] = [
    ['x-token-subject', userId],
    ['x-token-subject', 'nobody'],
    ['authorization', 'Bearer x'],
  ]
  // The response does not depend on the user in the proxy headers.
  for (const header of people) {
    const { status, body } = await requestThroughProxy(app, path, { headers: [header] })
    expect([status, body]).toEqual([200, full.body])
  }
  const wrong: [string, string][][] = [
    [],
    [['x-proxy-auth', 'wrong']],
    [['x-proxy-auth', '']],
    [secret, secret],
    [['authorization', `Bearer ${proxySecret}`]],
    [['x-token-subject', userId]],
  ]
  for (const headers of wrong) {
    const answer = await rawCall(app.url, { path, headers })
    const { error, ...rest } = JSON.parse(answer.body) as Record<string, string>
    expect([answer.status, Object.keys(rest)]).toEqual([401, ['code', 'request_id']])
    expect(error).toMatch(/^missing or invalid X-Proxy-Auth header/)
    const head = await rawCall(app.url, { method: 'HEAD', path, headers })
    expect([head.status, head.body]).toEqual([401, ''])
    for (const refused of [answer, head])
      expect([refused.headers['cache-control'], refused.headers['etag']]).toEqual(['no-store', undefined])
  }
}

/** Expects that the path returns an ETag, 304 for a request with this ETag, and the full body for other requests. */
export async function expectRevalidates(app: TestApp, path: string): Promise<void> {
  const full = await requestThroughProxy(app, path)
  const etag = etagOf(full)
  expect([full.status, full.headers['cache-control']]).toEqual([200, 'no-cache'])
  expect(full.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(etag).toMatch(/^"[\w-]{20,}"$/)
  expect(etagOf(await requestThroughProxy(app, path))).toBe(etag)
  for (const call of [
    ifNoneMatch(etag),
    ifNoneMatch(`W/${etag}`),
    ifNoneMatch('*'),
    ifNoneMatch(`"other", ${etag}`),
    ifNoneMatch(`${etag},"other"`),
    ifNoneMatch(`"a","b" ,  W/${etag} , "c"`),
    ifNoneMatch('"other"', etag),
  ])
    for (const method of ['GET', 'HEAD']) {
      const answer = await requestThroughProxy(app, path, { ...call, method })
      expect([call, answer.status, answer.body]).toEqual([call, 304, ''])
      expect([etagOf(answer), answer.headers['cache-control']]).toEqual([etag, 'no-cache'])
    }
  const bare = etag.slice(1, -1)
  const others = ['"other"', bare, `"${bare.slice(1)}"`, `"${bare}x"`, `w/${etag}`, '', '"*"', '"", "a"']
  for (const tag of others) {
    const answer = await requestThroughProxy(app, path, ifNoneMatch(tag))
    expect([tag, answer.status, etagOf(answer), answer.body]).toEqual([tag, 200, etag, full.body])
  }
  const head = await requestThroughProxy(app, path, { method: 'HEAD' })
  expect([head.status, head.body]).toEqual([200, ''])
  for (const name of ['etag', 'cache-control', 'content-type', 'content-length'])
    expect([name, head.headers[name]]).toEqual([name, full.headers[name]])
  expect(head.headers['content-length']).toBe(String(Buffer.byteLength(full.body)))
}
