// A backend that triggers call back. It registers, sends heartbeats, verifies what calls it, and does its work once for
// each tenant. It needs Node 24 and nothing else; docs/guides/backends/register.md explains the steps.
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

/** Asks the Manager; null is 404. A token in a file is read each time, so that a rotated one is used at once. */
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
/** The keys of callbacks, and those before them: a callback that was on its way while we registered again has those. */
let keys: Keys[] = []

/** A heartbeat. Registers first where there is no registration: at the start, or when it was removed. */
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
  // The header has a signature of each secret that the Manager signs with; one that fits is enough.
  const signatures = String(headers['webhook-signature']).split(' ')
  const fits = (came: Buffer): boolean => came.length === expected.length && timingSafeEqual(came, expected)
  return isRecent && signatures.some((signature) => fits(Buffer.from(signature)))
}

/** Runs we have taken. A run may arrive more than once; keep these with your data if work must not be done twice. */
const taken = new Set<string>()

/** Takes a callback; returns the status of the answer. */
async function receive(request: IncomingMessage): Promise<number> {
  const { headers } = request
  // Callbacks are small and say how long they are.
  if (!(Number(headers['content-length']) < 65_536)) return 413
  const body = await buffer(request)
  // A Manager of an older release issues no signing secret, and signs with the token.
  if (!keys.some(({ token, signing_secret = token }) => isSignedWith(signing_secret, headers, body))) {
    if (!isSignedWith(headers.authorization?.slice('Bearer '.length) ?? '', headers, body)) return 401
    // In order, but not with a secret of ours: another instance may have registered as the same machine user. The next
    // heartbeat registers again, and 503 asks for another attempt, which is signed with the secret we get then. Who forges
    // such a call makes us register once more, and nothing else.
    registration = null
    return 503
  }
  const id = String(headers['webhook-id'])
  if (taken.has(id)) say(`had ${id} already`)
  else {
    const { run_key } = JSON.parse(body.toString()) as { run_key: string }
    taken.add(id)
    for (const oldest of taken) if (taken.size > 1_000) taken.delete(oldest)
    say(`run ${id}: ${run_key}`)
    work(run_key).catch((error: unknown) => say(`${run_key} failed: ${String(error)}`))
  }
  return 204
}

/** What the trigger is for, once per tenant. The Manager waits 30 seconds for an answer, so it has been sent already. */
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

// Whatever fails, such as a Manager that is away or a token that was just rotated, is tried again with the next beat.
for (;;) {
  await beat().catch((error: unknown) => say(`no heartbeat: ${String(error)}`))
  await pause((Number(HEARTBEAT_SECONDS) || 30) * 1_000)
}
