// A TCP proxy that breaks its link on demand, a process of its own. Arguments: its port, the target's host and port, and the
// port of its control, which takes the faults there shall be instead of those there are (fault-proxy.ts).
import { type Socket, connect, createServer } from 'node:net'
import { serveControl } from '../control.ts'
import type { LinkFaults } from './fault-proxy.ts'

type Direction = 'up' | 'down'
type Pair = {
  client: Socket
  server: Socket
  /** Bytes of it were swallowed, so that it cannot go on. */
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
// What may wait for its time in one direction of a connection before the sender has to wait too.
const mostWaiting = 1_048_576
// A reset that follows the bytes at once would take them with it.
const beforeResetMs = 20

function reset(pair: Pair): void {
  pairs.delete(pair)
  pair.client.resetAndDestroy()
  pair.server.resetAndDestroy()
}

const isSwallowed = (direction: Direction): boolean =>
  faults.mode === 'silent' || faults.mode === `silent-${direction}`

/** Does what it is given when the link has it, in order: timers of two lengths alone would not keep it. */
function createSchedule(): (bytes: number, work: () => void) => void {
  const queue: { at: number; work: () => void }[] = []
  // When the link has passed everything that was given to it.
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

/** Passes the bytes of one direction. */
function pass(pair: Pair, from: Socket, to: Socket): void {
  const direction: Direction = from === pair.client ? 'up' : 'down'
  const later = createSchedule()
  let [waiting, passed] = [0, 0]
  const write = (chunk: Buffer): void => {
    waiting -= chunk.length
    // What was on its way when the link went silent does not arrive.
    if (isSwallowed(direction)) pair.isDamaged = true
    else if (!to.destroyed && !to.write(chunk)) {
      from.pause()
      to.once('drain', () => from.resume())
    } else if (waiting < mostWaiting) from.resume()
  }
  from.on('data', (chunk: Buffer) => {
    if (isSwallowed(direction)) return void (pair.isDamaged = true)
    const { resetAfterBytes } = faults
    passed += chunk.length
    if (direction === 'down' && resetAfterBytes > 0 && passed >= resetAfterBytes)
      return cutShort(pair, chunk.subarray(0, chunk.length - (passed - resetAfterBytes)))
    waiting += chunk.length
    if (waiting >= mostWaiting || faults.bytesPerSecond > 0) from.pause()
    later(chunk.length, () => write(chunk))
  })
  from.on('end', () =>
    later(0, () => {
      if (isSwallowed(direction)) pair.isDamaged = true
      else to.end()
    }),
  )
  from.on('error', () => reset(pair))
  from.on('close', () => {
    // The other side may still have something to say, unless nobody would hear it.
    if (to.destroyed) pairs.delete(pair)
  })
}

/** Passes the first part of an answer, then resets. */
function cutShort(pair: Pair, part: Buffer): void {
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

function resetWhere(isHit: (pair: Pair) => boolean): number {
  const hit = [...pairs].filter(isHit)
  for (const pair of hit) reset(pair)
  return hit.length
}

async function set(wanted: LinkFaults): Promise<void> {
  faults = { ...healthy, ...wanted }
  const isRefused = faults.mode === 'refuse'
  if (isRefused || faults.mode === 'reset') resetWhere(() => true)
  // Bytes that were swallowed do not come back.
  if (!faults.mode.startsWith('silent')) resetWhere(({ isDamaged }) => isDamaged)
  if (isRefused && isListening) proxy.close()
  if (!isRefused && !isListening) await listen()
  isListening = !isRefused
}

serveControl(Number(controlPort), {
  set: (body) => set(body as LinkFaults),
  resetOpen: () => resetWhere(() => true),
  open: () => pairs.size,
})
await listen()
