// A backend that uses the client; careful-backend.ts works without it (docs/guides/backends/register.md). For each
// callback, it asks a partner through the ESB for the stock of each tenant, and notifies the users of the tenant.
import { readFile } from 'node:fs/promises'
import { type IncomingMessage, createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { CallbackError, callEsb, connect, emit, forEachTenant, registerBackend } from '@manager/client'

const { MANAGER_URL: url = '', MACHINE_TOKEN_FILE = '', APPLICATION_ID: applicationId = '' } = process.env
const { CALLBACK_URL: callbackUrl = '', HOST, PORT = '9100', HEARTBEAT_SECONDS = '' } = process.env
const heartbeatMs = Math.max(0, Number(HEARTBEAT_SECONDS)) * 1_000 || 30_000
const printLine = (line: string): void => void process.stdout.write(`${line}\n`)
const onError = (error: unknown): void => printLine(`failed: ${String(error)}`)
// Read for every request, so that a rotated token is used immediately.
const token = async (): Promise<string> => (await readFile(MACHINE_TOKEN_FILE, 'utf8')).trim()
const manager = connect({ url, token })
const backend = await registerBackend(manager, { applicationId, callbackUrl, heartbeatMs, onError })

const work = (run: string, runKey: string): Promise<void> =>
  forEachTenant(manager, applicationId, async ({ id: tenantId, name: tenant }) => {
    const answer = await callEsb(manager, { applicationId, path: '/stock', body: JSON.stringify({ tenant }) })
    if (!answer.ok) throw new Error(`the partner returned ${answer.status}`)
    const { left } = (await answer.json()) as { left: number }
    const notification = { applicationId, tenantId, title: `Tulips left: ${left}`, data: { left } }
    // A run can arrive twice. The run id in the key ensures that only one notification is created.
    await emit(manager, notification, { idempotencyKey: `${run} ${tenantId}` })
    printLine(`${runKey} for ${tenant}`)
  })
async function receive(request: IncomingMessage): Promise<number> {
  if (!(Number(request.headers['content-length']) < 65_536)) return 413
  const { id, runKey } = await backend.verify({ headers: request.headers, body: await buffer(request) })
  work(id, runKey).catch(onError)
  return 204
}
const getStatus = (error: unknown): number => (error instanceof CallbackError ? error.status : 500)
createServer((request, response) => {
  const status = receive(request).catch(getStatus)
  void status.then((code) => response.writeHead(code).end())
}).listen(Number(PORT), HOST)
process.once('SIGTERM', () => void backend.close().finally(() => process.exit()))
