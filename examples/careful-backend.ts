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
type ManagerResponse = Keys & { registered_id: string; tenants?: { id: string; name: string }[] }
const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

/**
 * Calls the Manager. Returns null for 404. Reads the token file for every request, so that a rotated token is
 * used.
 */
async function callManager(method: string, path: string, body?: object): Promise<ManagerResponse | null> {
  const token = MACHINE_TOKEN ?? (await readFile(MACHINE_TOKEN_FILE, 'utf8')).trim()
  const response = await fetch(`${MANAGER_URL}/api/machine${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (response.status === 404) return null
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return JSON.parse(text) as ManagerResponse
}

let registration: string | null = null
/**
 * The current and the previous keys. The previous keys verify callbacks that were sent before the last
 * registration.
 */
let keys: Keys[] = []

/** Sends a heartbeat, or registers if no registration exists: at the start, or after it was removed. */
async function sendHeartbeat(): Promise<void> {
  if (registration !== null && (await callManager('PUT', `/backend/${registration}/heartbeat`)) !== null)
    return
  const body = { application_id: APPLICATION_ID, callback_url: CALLBACK_URL, version: '1.0.0' }
  const response = await callManager('POST', '/register-backend', body)
  if (response === null) throw new Error('the Manager does not know the application; check APPLICATION_ID')
  registration = response.registered_id
  keys = [response, ...keys.slice(0, 1)]
  printLine(`registered ${registration}`)
}

/** Returns whether the secret signed these bytes within the last five minutes (Standard Webhooks). */
function isSignedWith(secret: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const [id, sentAt] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])]
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${sentAt}.`).update(body).digest('base64')
  const expected = Buffer.from(`v1,${mac}`)
  const isRecent = Math.abs(Date.now() / 1_000 - Number(sentAt)) < 300
  // The header has one signature for each of the Manager's signing secrets. One matching signature is enough.
  const signatures = String(headers['webhook-signature']).split(' ')
  const matches = (received: Buffer): boolean =>
    received.length === expected.length && timingSafeEqual(received, expected)
  return isRecent && signatures.some((signature) => matches(Buffer.from(signature)))
}

/**
 * Ids of accepted runs, to detect runs that arrive more than once. Store the ids with your data if work must not
 * happen twice.
 */
const acceptedRuns = new Set<string>()

/** Accepts a callback and returns the HTTP status of the response. */
async function receive(request: IncomingMessage): Promise<number> {
  const { headers } = request
  // Callbacks are small and have a Content-Length, so all other requests are rejected.
  if (!(Number(headers['content-length']) < 65_536)) return 413
  const body = await buffer(request)
  // An older Manager issues no signing secret and signs with the token.
  if (!keys.some(({ token, signing_secret = token }) => isSignedWith(signing_secret, headers, body))) {
    if (!isSignedWith(headers.authorization?.slice('Bearer '.length) ?? '', headers, body)) return 401
    // The signature is valid, but was created with a different secret: another instance may have registered as the
    // same machine user. The next heartbeat registers again. 503 requests another attempt, which is signed with the
    // new secret. A forged call of this kind causes only one additional registration.
    registration = null
    return 503
  }
  const id = String(headers['webhook-id'])
  if (acceptedRuns.has(id)) printLine(`run ${id} was already accepted`)
  else {
    const { run_key } = JSON.parse(body.toString()) as { run_key: string }
    acceptedRuns.add(id)
    for (const oldest of acceptedRuns) if (acceptedRuns.size > 1_000) acceptedRuns.delete(oldest)
    printLine(`run ${id}: ${run_key}`)
    work(run_key).catch((error: unknown) => printLine(`${run_key} failed: ${String(error)}`))
  }
  return 204
}

/**
 * Does the work of a run for each tenant. The Manager waits at most 30 s, so the response is sent before the
 * work starts.
 */
async function work(runKey: string): Promise<void> {
  const response = await callManager('GET', `/application/${APPLICATION_ID}/tenants`)
  for (const tenant of response?.tenants ?? []) printLine(`${runKey} for ${tenant.name}`)
}

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.writeHead(500).end(),
  )
}).listen(Number(PORT))

process.once('SIGTERM', () => {
  const unregistration =
    registration === null ? Promise.resolve() : callManager('DELETE', `/backend/${registration}`)
  void unregistration.catch(() => undefined).then(() => process.exit())
})

// Any failure, such as an unreachable Manager or a token that was just rotated, is retried with the next heartbeat.
for (;;) {
  await sendHeartbeat().catch((error: unknown) => printLine(`heartbeat failed: ${String(error)}`))
  await pause((Number(HEARTBEAT_SECONDS) || 30) * 1_000)
}
