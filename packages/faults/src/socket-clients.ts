// Runs thousands of socket clients in a separate process. They follow the rules for close codes: codes from 4500 are
// final. After any other code, a client reconnects after a random fraction of the jitter in `hello`. Argument: the
// control port.
import { WebSocket } from 'ws'
import { serveControl } from './control.ts'
import type { Arrival, SocketEvent, SocketSpec } from './sockets.ts'

const specs: SocketSpec[] = []
const sockets: (WebSocket | undefined)[] = []
const jitters: number[] = []
let events: SocketEvent[] = []
let arrivals: Arrival[] = []
/**
 * Records only latencies, by phase and group, for scenarios with too many hints (best-effort messages) to record each
 * one.
 */
let recordsOnlyLatencies = false
const latencies = new Map<string, number[]>()
let greeted = 0
let isEnding = false
const helloWaiters = new Set<() => void>()

const now = (): number => performance.timeOrigin + performance.now()
const firstJitterMs = 5_000
const finalFrom = 4_500
const headBytes = 512

function connect(socket: number): void {
  const { url, headers } = specs[socket] as SocketSpec
  const client = new WebSocket(url, { headers, perMessageDeflate: false, handshakeTimeout: 30_000 })
  sockets[socket] = client
  let refusal: { status: number; retryAfterMs: number } | null = null
  let hasHello = false
  const startedAt = now()
  client.on('message', (data: Buffer) => {
    const frame = readFrame(data)
    if (frame.type === 'ping') client.send('{"type":"pong"}')
    else if (frame.type === 'hello') {
      hasHello = true
      greeted++
      jitters[socket] = frame.jitterMs
      const at = now()
      events.push({ socket, kind: 'hello', at, jitterMs: frame.jitterMs, tookMs: at - startedAt })
      for (const wake of helloWaiters) wake()
    } else if (frame.key !== null) recordHint(socket, frame.key)
  })
  client.on('unexpected-response', (_request, response) => {
    const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1_000
    refusal = { status: response.statusCode ?? 0, retryAfterMs }
    client.terminate()
  })
  client.on('error', () => undefined)
  client.on('close', (code) => {
    if (hasHello) greeted--
    const jitterMs = jitters[socket] ?? firstJitterMs
    if (refusal !== null) events.push({ socket, kind: 'refused', at: now(), status: refusal.status })
    else events.push({ socket, kind: hasHello ? 'closed' : 'failed', at: now(), code, jitterMs })
    const isFinal = code >= finalFrom || (refusal !== null && refusal.status < 500 && refusal.status !== 429)
    if (isFinal || isEnding) return
    setTimeout(() => connect(socket), (refusal?.retryAfterMs ?? 0) + Math.random() * jitterMs)
  })
}

type Frame = { type: string; jitterMs: number; key: string | null }

/** Returns the type of a frame and the key of the hint: its title or topic. Parses only the head of a long frame. */
function readFrame(data: Buffer): Frame {
  if (data.length > headBytes) {
    const head = data.toString('latin1', 0, headBytes)
    const key = /"(?:topic|title)":"([^"]*)"/.exec(head)?.[1]
    if (key !== undefined) return { type: 'live', jitterMs: 0, key }
  }
  const frame = JSON.parse(data.toString()) as Record<string, unknown>
  return {
    type: String(frame['type']),
    jitterMs: Number(frame['reconnect_jitter_ms'] ?? 0),
    key: (frame['title'] ?? frame['topic'] ?? null) as string | null,
  }
}

function recordHint(socket: number, key: string): void {
  const at = now()
  if (!recordsOnlyLatencies) return void arrivals.push({ socket, key, at })
  const [phase = '', , sentAt = ''] = key.split(' ')
  const name = `${phase} ${specs[socket]?.group}`
  const list = latencies.get(name) ?? []
  list.push(at - Number(sentAt))
  latencies.set(name, list)
}

/** Opens the sockets with limited concurrency. Resolves when each socket has received its hello, or after `ms`. */
async function open(added: SocketSpec[], ms: number): Promise<number> {
  const end = Date.now() + ms
  const before = greeted
  const have = (): number => greeted - before
  /** Waits until `count` of the added sockets have received their hello. */
  const reached = async (count: number): Promise<void> => {
    while (have() < count && Date.now() < end) await nextHello(100)
  }
  for (const [index, spec] of added.entries()) {
    await reached(index - maxOpening)
    connect(specs.push(spec) - 1)
  }
  await reached(added.length)
  return greeted
}
const maxOpening = 100

const nextHello = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      helloWaiters.delete(wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    helloWaiters.add(wake)
  })

const each = (chosen: number[], act: (client: WebSocket) => void): number => {
  for (const socket of chosen) act(sockets[socket] as WebSocket)
  return chosen.length
}

serveControl(Number(process.argv[2]), {
  open: (body) => {
    const { added, ms } = body as { added: SocketSpec[]; ms: number }
    return open(added, ms)
  },
  greeted: () => greeted,
  pause: (body) => each(body as number[], (client) => client.pause()),
  resume: (body) => each(body as number[], (client) => client.resume()),
  drop: (body) => each(body as number[], (client) => client.terminate()),
  tally: () => void (recordsOnlyLatencies = true),
  events: () => events,
  arrivals: () => arrivals,
  latencies: (body) => (latencies.get(body as string) ?? []).sort((a, b) => a - b),
  clear: () => {
    events = []
    arrivals = []
  },
})
process.once('SIGTERM', () => {
  isEnding = true
  process.exit()
})
