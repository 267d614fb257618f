// Signs in at a proxy like a browser: it follows redirects, keeps cookies and submits the form of
// engines/oidc-provider.ts.
import { type RawAnswer, rawCall } from './http.ts'

export type SignedIn = RawAnswer & {
  /** The cookies of the host as a request header. */
  cookie: [string, string]
}
type SignIn = { port: number; host: string; login: string; path: string }

const maxSteps = 12

/** Opens a page of a proxy host, signs in when the proxy asks for it, and returns the final response. */
export async function signIn({ port, host, login, path }: SignIn): Promise<SignedIn> {
  const own = host.includes(':') ? host : `${host}:${port}`
  const jar = new Map<string, Map<string, string>>()
  let [url, body]: [URL, string | undefined] = [new URL(`http://${own}${path}`), undefined]
  for (let step = 0; step < maxSteps; step++) {
    const answer = await visit(url, jar, body)
    body = undefined
    const next = answer.headers['location']
    if (typeof next === 'string') url = new URL(next, url)
    else if (url.host !== own && answer.status === 200) body = `login=${encodeURIComponent(login)}`
    else return { ...answer, cookie: ['Cookie', cookiesOf(jar, own)] }
  }
  throw new Error(`too many redirects, last to ${url.href}`)
}

type Jar = Map<string, Map<string, string>>
const cookiesOf = (jar: Jar, host: string): string =>
  [...(jar.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')

async function visit(url: URL, jar: Jar, body: string | undefined): Promise<RawAnswer> {
  const headers: [string, string][] = [
    ['Accept', 'text/html'],
    ['Cookie', cookiesOf(jar, url.host)],
  ]
  if (body !== undefined) headers.push(['Content-Type', 'application/x-www-form-urlencoded'])
  const answer = await rawCall(`http://127.0.0.1:${url.port}`, {
    method: body === undefined ? 'GET' : 'POST',
    path: `${url.pathname}${url.search}`,
    host: url.host,
    headers,
    body,
  })
  const kept = jar.get(url.host) ?? new Map<string, string>()
  jar.set(url.host, kept)
  for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
    const [pair = ''] = line.split(';')
    kept.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
  }
  return answer
}
