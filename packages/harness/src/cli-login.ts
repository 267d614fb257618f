// A terminal that signs in, and the person who decides about it in a browser.
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

/** Where a request comes from, as the proxy says. */
export const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address })

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

/** A terminal with a key of its own; nothing is started yet. */
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
    /** Starts a login that is known to work. */
    login: async (more: object = {}, headers: Record<string, string> = {}): Promise<Started> => {
      const { status, body } = await start(more, headers)
      if (status !== 200) throw new Error(`start answered ${status} ${JSON.stringify(body)}`)
      return body as Started
    },
    /** Polls, if need be at another address than the login was started at. */
    poll: (sessionId: string, headers: Record<string, string> = {}, at = url): Promise<Answer> =>
      postJson(at, '/api/cli/login/poll', { session_id: sessionId }, headers),
    open: (sealed: unknown): string =>
      Buffer.from(
        sodium.crypto_box_seal_open(Buffer.from(String(sealed), 'base64'), publicKey, privateKey),
      ).toString(),
  }
}

/** The page as a browser asks for it. */
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

/** What the form of a page carries for proof. */
export const formTokenOf = (page: Shown): string =>
  /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''

/** Sends a form as the browser of the person does. */
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

/** Opens the page of a login and decides on it. */
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
