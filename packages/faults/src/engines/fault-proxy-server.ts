// A TCP proxy in a separate process that breaks its link on demand. Arguments: its port, the target's host and port,
// and the control port. A control request replaces the current faults (fault-proxy.ts).
import { type Socket, connect, createServer } from 'node:net'
import { serveControl } from '../control.ts'
import type { LinkFaults } from './fault-proxy.ts'

type Direction = 'up' | 'down'
type Pair = {
  client: Socket
  server: Socket
  /** Some bytes of this connection were dropped, so the connection is unusable. */
  isDamaged: boolean
}

const [port, host, targetPort, controlPort] = process.argv.slice(2) as [string, string, string, string]
const healthy: Required<LinkFaults> = {
  mode: 'pass',
  latencyMs: 0,
  jitterMs: 0,
  bytesPerSecond: 0,
  resetAfterBytes: 0,
}
let faults = healthy
let isListening = true
const pairs = new Set<Pair>()
// The number of bytes that may be delayed in one direction of a connection before the sender is paused.
const maxDelayedBytes = 1_048_576
// Resets are delayed, because an immediate reset would discard bytes that were just written.
const beforeResetMs = 20

function reset(pair: Pair): void {
  pairs.delete(pair)
  pair.client.resetAndDestroy()
  pair.server.resetAndDestroy()
}

const isDropped = (direction: Direction): boolean =>
  faults.mode === 'silent' || faults.mode === `silent-${direction}`

/**
 * Returns a function that delays work by the transmission time of the link. Unlike separate timers, its queue
 * preserves the order.
 */
function createSchedule(): (bytes: number, work: () => void) => void {
  const queue: { at: number; work: () => void }[] = []
  // The time at which the link has transmitted everything in the queue.
  let freeAt = 0
  const drain = (): void => {
    while (queue[0] !== undefined && queue[0].at - Date.now() < 1) queue.shift()?.work()
    if (queue[0] !== undefined) setTimeout(drain, queue[0].at - Date.now())
  }
  return (bytes, work) => {
    const { latencyMs, jitterMs, bytesPerSecond } = faults
    const delay = Math.max(0, latencyMs + (Math.random() * 2 - 1) * jitterMs)
    const cost = bytesPerSecond === 0 ? 0 : (bytes / bytesPerSecond) * 1_000
    freeAt = Math.max(freeAt, Date.now() + delay) + cost
    queue.push({ at: freeAt, work })
    if (queue.length === 1) drain()
  }
}

/** Forwards the bytes of one direction. */
function pass(pair: Pair, from: Socket, to: Socket): void {
  const direction: Direction = from === pair.client ? 'up' : 'down'
  const later = createSchedule()
  let [waiting, passed] = [0, 0]
  const write = (chunk: Buffer): void => {
    waiting -= chunk.length
    // Bytes in transit are lost when the link becomes silent.
    if (isDropped(direction)) pair.isDamaged = true
    else if (!to.destroyed && !to.write(chunk)) {
      from.pause()
      to.once('drain', () => from.resume())
    } else if (waiting < maxDelayedBytes) from.resume()
  }
  from.on('data', (chunk: Buffer) => {
    if (isDropped(direction)) return void (pair.isDamaged = true)
    const { resetAfterBytes } = faults
    passed += chunk.length
    if (direction === 'down' && resetAfterBytes > 0 && passed >= resetAfterBytes)
      return truncateResponse(pair, chunk.subarray(0, chunk.length - (passed - resetAfterBytes)))
    waiting += chunk.length
    if (waiting >= maxDelayedBytes || faults.bytesPerSecond > 0) from.pause()
    later(chunk.length, () => write(chunk))
  })
  from.on('end', () =>
    later(0, () => {
      if (isDropped(direction)) pair.isDamaged = true
      else to.end()
    }),
  )
  from.on('error', () => reset(pair))
  from.on('close', () => {
    // The pair is forgotten only after both sockets are closed, because one may still send data after the other is
    // closed.
    if (to.destroyed) pairs.delete(pair)
  })
}

/** Forwards the first part of a response, then resets the connection. */
function truncateResponse(pair: Pair, part: Buffer): void {
  pair.server.pause()
  pair.client.write(part)
  setTimeout(() => reset(pair), beforeResetMs)
}

const proxy = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  if (faults.mode === 'reset') return void client.resetAndDestroy()
  const server = connect({ host, port: Number(targetPort), allowHalfOpen: true, noDelay: true })
  const pair: Pair = { client, server, isDamaged: false }
  pairs.add(pair)
  pass(pair, client, server)
  pass(pair, server, client)
})

const listen = (): Promise<void> =>
  new Promise((resolve, reject) => {
    proxy.once('error', reject)
    proxy.listen({ port: Number(port), host: '127.0.0.1', backlog: 1_024 }, resolve)
  })

function resetMatching(isMatch: (pair: Pair) => boolean): number {
  const matching = [...pairs].filter(isMatch)
  for (const pair of matching) reset(pair)
  return matching.length
}

async function set(wanted: LinkFaults): Promise<void> {
  faults = { ...healthy, ...wanted }
  const isRefused = faults.mode === 'refuse'
  if (isRefused || faults.mode === 'reset') resetMatching(() => true)
  // Dropped bytes are not retransmitted, so the affected connections must be reset.
  if (!faults.mode.startsWith('silent')) resetMatching(({ isDamaged }) => isDamaged)
  if (isRefused && isListening) proxy.close()
  if (!isRefused && !isListening) await listen()
  isListening = !isRefused
}

serveControl(Number(controlPort), {
  set: (body) => set(body as LinkFaults),
  resetOpen: () => resetMatching(() => true),
  open: () => pairs.size,
})
await listen()
