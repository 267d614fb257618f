// The balancer, a process of its own: sends requests and sockets to the replicas that are ready, in turn. A connection that
// is refused is tried at another replica; nothing else is tried again. Arguments: its port, and the port of its control.
import { Agent, type IncomingMessage, type ServerResponse, createServer, request as send } from 'node:http'
import { type Socket, connect } from 'node:net'
import { serveControl } from './control.ts'
import type { BalancerStats, Target } from './balancer.ts'

const [port, controlPort] = process.argv.slice(2).map(Number) as [number, number]
const agent = new Agent({ keepAlive: true, maxSockets: 256 })
let targets: Target[] = []
const ready = new Set<string>()
const stats: BalancerStats = { requests: 0, waited: 0, retried: 0, failed: [] }
let turn = 0

const pollMs = 100
const waitMs = 10_000

/** Asks a replica whether it is ready, over and over. One that does not answer at once stays what it was. */
async function watch({ url, readyUrl }: Target): Promise<void> {
  while (targets.some((target) => target.url === url)) {
    const isReady = await fetch(readyUrl).then(
      async (response) => (await response.text(), response.ok),
      () => false,
    )
    if (isReady) ready.add(url)
    else ready.delete(url)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  ready.delete(url)
}

function setTargets(chosen: Target[]): void {
  const added = chosen.filter(({ url }) => !targets.some((target) => target.url === url))
  targets = chosen
  for (const target of added) void watch(target)
}

const readyTargets = (tried: readonly string[]): string[] =>
  targets.map(({ url }) => url).filter((url) => ready.has(url) && !tried.includes(url))

/** The next that is ready and was not tried; waits a while when there is none. */
async function pick(tried: string[]): Promise<string | null> {
  for (const end = Date.now() + waitMs; Date.now() < end;) {
    const found = readyTargets(tried)
    if (found.length > 0) return found[turn++ % found.length] as string
    stats.waited++
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    tried.length = 0
  }
  return null
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  stats.requests++
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const tried: string[] = []
  for (;;) {
    const url = await pick(tried)
    if (url === null) return fail(response, 'no replica is ready')
    tried.push(url)
    const refusal = await forward(url, { request, body: Buffer.concat(chunks), response })
    if (refusal === null) return
    if (refusal.code !== 'ECONNREFUSED') return fail(response, `${request.method} ${refusal.message}`)
    stats.retried++
    ready.delete(url)
  }
}

function fail(response: ServerResponse, reason: string): void {
  stats.failed.push(reason)
  response.writeHead(502).end()
}

/** Resolves to null when an answer came, and to what went wrong before one did. */
const forward = (
  url: string,
  { request, body, response }: { request: IncomingMessage; body: Buffer; response: ServerResponse },
): Promise<NodeJS.ErrnoException | null> =>
  new Promise((resolve) => {
    const { method, headers } = request
    const upstream = send(url + request.url, { method, headers, agent }, (answer) => {
      const { connection: _hop, 'keep-alive': _timeout, ...kept } = answer.headers
      response.writeHead(answer.statusCode ?? 502, kept)
      answer.pipe(response)
      answer.once('end', () => resolve(null))
      answer.once('error', (error) => {
        stats.failed.push(error.message)
        response.destroy()
        resolve(null)
      })
    })
    upstream.once('error', resolve)
    upstream.end(body)
  })

async function upgrade(request: IncomingMessage, client: Socket): Promise<void> {
  client.on('error', () => client.destroy())
  const tried: string[] = []
  for (;;) {
    const url = await pick(tried)
    if (url === null || client.destroyed) return void client.destroy()
    tried.push(url)
    const upstream = await dial(url)
    if (upstream !== null) return join(client, upstream, headOf(request))
    stats.retried++
    ready.delete(url)
  }
}

const dial = (url: string): Promise<Socket | null> =>
  new Promise((resolve) => {
    const upstream = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(upstream))
    upstream.once('error', () => resolve(null))
  })

function join(client: Socket, upstream: Socket, head: string): void {
  upstream.on('error', () => client.destroy())
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => client.end())
  upstream.write(head)
  upstream.pipe(client)
  client.pipe(upstream)
}

function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  )
  return `${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy())
})
server.on('upgrade', (request, socket) => void upgrade(request, socket as Socket))
server.keepAliveTimeout = 600_000
// Thousands come at once; the kernel forgets what is more than this, and their clients try again seconds later.
server.listen({ port, host: '127.0.0.1', backlog: 4_096 })
serveControl(controlPort, {
  targets: (body) => setTargets(body as Target[]),
  ready: () => ready.size,
  stats: () => stats,
})
