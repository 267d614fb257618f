// Simulates the CLI login flow: a terminal signs in, and a user approves or denies the login in a browser.
import sodium, { ready } from 'libsodium-wrappers'
import { type Person, type Service, headersOf, proxySecret } from './callers.ts'

export type Started = {
  session_id: string
  verification_uri: string
  user_code: string
  interval: number
  expires_at: string
}
export type Answer = { status: number; headers: Headers; body: Record<string, unknown> }
export type Shown = { status: number; headers: Headers; text: string }
export type Terminal = Awaited<ReturnType<typeof openTerminal>>

/** The header in which the proxy passes the client address. */
export const fromAddress = (address: string): Record<string, string> => ({ 'x-forwarded-for': address })

export async function postJson(
  url: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-proxy-auth': proxySecret, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answer['body'],
  }
}

/** Creates a terminal with its own key pair. It does not start a login. */
export async function openTerminal({ url }: Service) {
  await ready
  const { publicKey, privateKey } = sodium.crypto_box_keypair()
  const key = Buffer.from(publicKey).toString('base64')
  const start = (more: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
    postJson(url, '/api/cli/login/start', { public_key: key, token_name: 'laptop', ...more }, headers)
  return {
    key,
    privateKey: Buffer.from(privateKey),
    start,
    /** Starts a login and throws unless the response is 200. */
    login: async (more: object = {}, headers: Record<string, string> = {}): Promise<Started> => {
      const { status, body } = await start(more, headers)
      if (status !== 200) throw new Error(`login start returned ${status} ${JSON.stringify(body)}`)
      return body as Started
    },
    /** Polls the login, by default on the process that started the login. */
    poll: (sessionId: string, headers: Record<string, string> = {}, at = url): Promise<Answer> =>
      postJson(at, '/api/cli/login/poll', { session_id: sessionId }, headers),
    open: (sealed: unknown): string =>
      Buffer.from(
        sodium.crypto_box_seal_open(Buffer.from(String(sealed), 'base64'), publicKey, privateKey),
      ).toString(),
  }
}

/** Requests the authorization page as a browser does. If `person` is null, the browser is signed out. */
export async function openPage(
  { url }: Service,
  person: Person | null,
  code: string,
  headers: Record<string, string> = {},
): Promise<Shown> {
  const who = person === null ? { 'x-proxy-auth': proxySecret } : headersOf(person)
  const response = await fetch(`${url}/cli/authorize?code=${encodeURIComponent(code)}`, {
    headers: { ...who, accept: 'text/html,application/xhtml+xml', ...headers },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Returns the form token of the page, or an empty string if the page has none. */
export const formTokenOf = (page: Shown): string =>
  /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''

/** Submits the form as the user's browser does. */
export async function sendForm(
  { url }: Service,
  person: Person,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Shown> {
  const response = await fetch(`${url}/cli/authorize`, {
    method: 'POST',
    headers: { ...headersOf(person), accept: 'text/html', 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(fields),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Opens the authorization page, and approves or denies the login. */
export async function decide(
  service: Service,
  person: Person,
  code: string,
  decision: 'approve' | 'deny',
): Promise<Shown> {
  const page = await openPage(service, person, code)
  if (page.status !== 200) return page
  return sendForm(service, person, { code, form_token: formTokenOf(page), decision, compared: 'yes' })
}
