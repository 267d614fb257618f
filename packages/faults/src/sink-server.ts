// Stub backends in a separate process. Each destination has its own loopback address, responds in its configured mode
// and records every request. Arguments: port, number of destinations.
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Delivery } from './recorder.ts'

const [port, count] = process.argv.slice(2).map(Number) as [number, number]
const modes = Array.from({ length: count }, () => 'ok')
const open = Array.from({ length: count }, () => 0)
const peaks = Array.from({ length: count }, () => 0)
let records: Delivery[] = []

/** Each destination has its own address, so that the service treats destinations as distinct. */
const addressOf = (destination: number): string =>
  `127.10.${Math.floor(destination / 250)}.${(destination % 250) + 1}`

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}

async function receive(
  destination: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const opened = (open[destination] ?? 0) + 1
  open[destination] = opened
  peaks[destination] = Math.max(peaks[destination] ?? 0, opened)
  response.once('close', () => void (open[destination] = (open[destination] ?? 1) - 1))
  const body = JSON.parse(await readText(request)) as Record<string, string>
  const mode = modes[destination] ?? 'ok'
  const header = (name: string): string => String(request.headers[name])
  const record: Delivery = {
    runId: header('webhook-id'),
    triggerId: String(body['trigger_id']),
    attempt: Number(header('x-svc-attempt')),
    scheduledAt: Date.parse(header('x-svc-scheduled-at')),
    stampedAt: Number(header('webhook-timestamp')) * 1_000,
    executedAt: Date.parse(String(body['executed_at'])),
    at: Date.now(),
    destination,
    mode,
    status: 0,
  }
  records.push(record)
  respond(mode, response, (status) => (record.status = status))
}

function respond(mode: string, response: ServerResponse, answered: (status: number) => void): void {
  const [kind, argument] = mode.split(':')
  const answer = (status: number, headers: Record<string, string> = {}): void => {
    // Records the request even if no client waits for the response, because the backend has done its work.
    answered(status)
    if (!response.destroyed) response.writeHead(status, { 'content-length': '0', ...headers }).end()
  }
  if (kind === 'hang') return
  if (kind === 'reset') return void response.socket?.resetAndDestroy()
  if (kind === '429') return answer(429, { 'retry-after': String(argument) })
  if (kind === '500') return answer(500)
  if (argument === undefined) return answer(200)
  setTimeout(() => answer(200), Number(argument))
}

/** Control requests from the harness: read or clear the record, and set the mode of destinations. */
async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    const { destinations, mode } = JSON.parse(await readText(request)) as {
      destinations: number[]
      mode: string
    }
    for (const destination of destinations) modes[destination] = mode
  } else if (request.url === '/records')
    for (const record of records) response.write(`${JSON.stringify(record)}\n`)
  else if (request.url === '/count') response.write(String(records.length))
  else if (request.url === '/peaks') response.write(JSON.stringify(peaks))
  else if (request.url === '/clear') {
    records = []
    peaks.fill(0)
  }
  response.end()
}

const destinationOf = (request: IncomingMessage): number => {
  const [, , third, last] = String(request.socket.localAddress).split('.')
  return Number(third) * 250 + Number(last) - 1
}

function listen(
  address: string,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): void {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  // Keeps idle connections open. Closing a connection while a request is in flight would be an unplanned fault.
  server.keepAliveTimeout = 600_000
  server.listen(port, address)
}

for (let destination = 0; destination < count; destination++)
  listen(addressOf(destination), (request, response) => receive(destinationOf(request), request, response))
listen('127.0.0.1', control)
