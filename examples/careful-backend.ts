// A backend that triggers call. It registers, sends heartbeats, verifies callbacks, and does its work once for each
// tenant. It needs only Node 24. docs/guides/backends/register.md explains the steps.
//
//   MANAGER_URL=http://127.0.0.1:8080 MACHINE_TOKEN_FILE=token APPLICATION_ID=… \
//   CALLBACK_URL=http://127.0.0.1:9100/callbacks PORT=9100 node examples/careful-backend.ts
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, type IncomingMessage, createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

const { MANAGER_URL = 'http://127.0.0.1:8080', APPLICATION_ID = '', CALLBACK_URL = '' } = process.env
const { MACHINE_TOKEN, MACHINE_TOKEN_FILE = '', PORT = '9100', HEARTBEAT_SECONDS = '30' } = process.env
type Keys = { token: string; signing_secret?: string }
type Answer = Keys & { registered_id: string; tenants?: { id: string; name: string }[] }
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Calls the Manager, and returns null for 404. A token file is read for every request, so a rotated token is used. */
async function ask(method: string, path: string, body?: object): Promise<Answer | null> {
  const token = MACHINE_TOKEN ?? (await readFile(MACHINE_TOKEN_FILE, 'utf8')).trim()
  const response = await fetch(`${MANAGER_URL}/api/machine${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const answer = await response.text()
  if (response.status === 404) return null
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return JSON.parse(answer) as Answer
}

let registration: string | null = null
/** The current and the previous keys. The previous keys verify callbacks sent before the last registration. */
let keys: Keys[] = []

/** Sends a heartbeat, or registers if there is no registration: at the start, or after it was removed. */
async function beat(): Promise<void> {
  if (registration !== null && (await ask('PUT', `/backend/${registration}/heartbeat`)) !== null) return
  const body = { application_id: APPLICATION_ID, callback_url: CALLBACK_URL, version: '1.0.0' }
  const registered = await ask('POST', '/register-backend', body)
  if (registered === null) throw new Error('the application is unknown')
  registration = registered.registered_id
  keys = [registered, ...keys.slice(0, 1)]
  say(`registered ${registration}`)
}

/** Whether the secret signed these bytes within the last five minutes (Standard Webhooks). */
function isSignedWith(secret: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const [id, sentAt] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])]
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${sentAt}.`).update(body).digest('base64')
  const expected = Buffer.from(`v1,${mac}`)
  const isRecent = Math.abs(Date.now() / 1_000 - Number(sentAt)) < 300
  // The header has one signature per secret that the Manager signs with. One matching signature is enough.
  const signatures = String(headers['webhook-signature']).split(' ')
  const matches = (received: Buffer): boolean =>
    received.length === expected.length && timingSafeEqual(received, expected)
  return isRecent && signatures.some((signature) => matches(Buffer.from(signature)))
}

/** Accepted runs. A run can arrive more than once; store these ids with your data if work must not happen twice. */
const acceptedRuns = new Set<string>()

/** Accepts a callback and returns the status of the response. */
async function receive(request: IncomingMessage): Promise<number> {
  const { headers } = request
  // Callbacks are small and declare their length.
  if (!(Number(headers['content-length']) < 65_536)) return 413
  const body = await buffer(request)
  // An older Manager issues no signing secret and signs with the token.
  if (!keys.some(({ token, signing_secret = token }) => isSignedWith(signing_secret, headers, body))) {
    if (!isSignedWith(headers.authorization?.slice('Bearer '.length) ?? '', headers, body)) return 401
    // The signature is valid, but not for our secret: another instance may have registered as the same machine user.
    // The next heartbeat registers again, and 503 requests another attempt, which is signed with the new secret. A
    // forged call of this kind causes one more registration, and nothing else.
    registration = null
    return 503
  }
  const id = String(headers['webhook-id'])
  if (acceptedRuns.has(id)) say(`run ${id} was already accepted`)
  else {
    const { run_key } = JSON.parse(body.toString()) as { run_key: string }
    acceptedRuns.add(id)
    for (const oldest of acceptedRuns) if (acceptedRuns.size > 1_000) acceptedRuns.delete(oldest)
    say(`run ${id}: ${run_key}`)
    work(run_key).catch((error: unknown) => say(`${run_key} failed: ${String(error)}`))
  }
  return 204
}

/** Does the work of a run, once per tenant. The Manager waits for 30 s, so the response is sent before the work. */
async function work(runKey: string): Promise<void> {
  const answer = await ask('GET', `/application/${APPLICATION_ID}/tenants`)
  for (const tenant of answer?.tenants ?? []) say(`${runKey} for ${tenant.name}`)
}

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  )
}).listen(Number(PORT))

process.once('SIGTERM', () => {
  const leaving = registration === null ? Promise.resolve() : ask('DELETE', `/backend/${registration}`)
  void leaving.catch(() => undefined).then(() => process.exit())
})

// Any failure, such as an unreachable Manager or a token that was just rotated, is retried with the next heartbeat.
for (;;) {
  await beat().catch((error: unknown) => say(`heartbeat failed: ${String(error)}`))
  await pause((Number(HEARTBEAT_SECONDS) || 30) * 1_000)
}
