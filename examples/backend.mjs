// A backend in some thirty lines; careful-backend.ts knows more of what can happen. docs/backends.md explains both.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const { MANAGER_URL, MACHINE_TOKEN_FILE, APPLICATION_ID, CALLBACK_URL, PORT, HEARTBEAT_SECONDS } = process.env
let [registration, tokens] = ['none', []]

async function ask(method, path, body) {
  const token = readFileSync(MACHINE_TOKEN_FILE, 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${MANAGER_URL}/api/machine/${path}`, { method, headers, body })
  return { status: response.status, ...(await response.json()) }
}
async function beat() {
  if ((await ask('PUT', `backend/${registration}/heartbeat`)).status !== 404) return
  const place = JSON.stringify({ application_id: APPLICATION_ID, callback_url: CALLBACK_URL })
  const { registered_id, token } = await ask('POST', 'register-backend', place)
  // A callback that is on its way meanwhile carries the former token.
  if (token !== undefined) [registration, tokens] = [registered_id, [token, ...tokens.slice(0, 1)]]
}
function isSigned(token, { headers }, body) {
  const mac = createHmac('sha256', Buffer.from(token.slice('whsec_'.length), 'base64'))
  const expected = mac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest()
  const came = Buffer.from(headers['webhook-signature']?.slice('v1,'.length) ?? '', 'base64')
  if (Math.abs(Date.now() / 1000 - headers['webhook-timestamp']) > 300) return false
  return came.length === expected.length && timingSafeEqual(came, expected)
}
async function receive(request) {
  const body = await text(request)
  // Perhaps another instance has registered since: the next heartbeat registers again, and 503 asks for another attempt.
  const isOurs = tokens.some((token) => isSigned(token, request, body) === true)
  if (!isOurs) return ((registration = 'none'), 503)
  const { tenants } = await ask('GET', `application/${APPLICATION_ID}/tenants`)
  for (const { name } of tenants) process.stdout.write(`${JSON.parse(body).run_key} for ${name}\n`)
  return 204
}
createServer(async (request, response) => {
  response.writeHead(await receive(request).catch(() => 500)).end()
}).listen(PORT)
beat().catch(() => undefined)
setInterval(() => beat().catch(() => undefined), 1000 * (HEARTBEAT_SECONDS ?? 30))
