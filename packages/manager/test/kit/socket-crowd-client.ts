// A process with thousands of minimal WebSockets, which records when data arrives on each of them.
import { type Socket, connect } from 'node:net'

export type CrowdOrder =
  | { open: { port: number; requests: string[]; ready: string } }
  /** The reply is sent when data has arrived on every socket that is not paused. */
  | { watch: true }
  /** Stops reading from this number of sockets. */
  | { pause: number }
  /** The reply contains the number of open sockets and the total number of frames with this text. */
  | { count: string }
export type CrowdAnswer =
  | { opened: number; ms: number }
  | { arrivals: number[] }
  | { open: number; counted: number }
  | { watching: true }
  | { paused: number }

const sockets: { socket: Socket; hasArrived: boolean; isPaused: boolean; rest: Buffer }[] = []
const concurrency = 100
let arrivals: number[] | null = null
let counted = 0
let kind: Buffer = Buffer.from('"live"')
const now = (): number => Number(process.hrtime.bigint()) / 1e6
const answer = (message: CrowdAnswer): void => void process.send?.(message)

function openOne(port: number, request: string, ready: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    const one = { socket, hasArrived: false, isPaused: false, rest: Buffer.alloc(0) }
    let head = ''
    socket.on('error', reject)
    const open = (piece: Buffer): void => {
      head += piece.toString('latin1')
      if (!head.includes(ready)) return
      head = ''
      socket.off('data', open)
      socket.on('data', (bytes: Buffer) => note(one, bytes))
      sockets.push(one)
      resolve()
    }
    socket.on('data', open)
    socket.on('close', () => reject(new Error(`closed: ${head.slice(-300)}`)))
  })
}

function note(one: (typeof sockets)[number], bytes: Buffer): void {
  // The text may be split across chunks.
  const all = Buffer.concat([one.rest, bytes])
  for (let at = all.indexOf(kind); at !== -1; at = all.indexOf(kind, at + 1)) counted++
  one.rest = Buffer.from(all.subarray(Math.max(0, all.length - kind.length + 1)))
  if (arrivals === null || one.hasArrived) return
  one.hasArrived = true
  arrivals.push(now())
  if (arrivals.length < sockets.filter(({ isPaused }) => !isPaused).length) return
  answer({ arrivals })
  arrivals = null
}

async function open({
  port,
  requests,
  ready,
}: {
  port: number
  requests: string[]
  ready: string
}): Promise<void> {
  const startedAt = now()
  const rest = requests.values()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const request of rest) await openOne(port, request, ready)
    }),
  )
  answer({ opened: sockets.length, ms: now() - startedAt })
}

process.on('message', (order: CrowdOrder) => {
  if ('open' in order)
    open(order.open).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    })
  else if ('watch' in order) {
    for (const one of sockets) one.hasArrived = false
    arrivals = []
    answer({ watching: true })
  } else if ('pause' in order) {
    for (const one of sockets.slice(0, order.pause)) {
      one.isPaused = true
      one.socket.pause()
    }
    answer({ paused: order.pause })
  } else {
    if (kind.toString() !== order.count) counted = 0
    kind = Buffer.from(order.count)
    answer({ open: sockets.filter(({ socket }) => !socket.destroyed).length, counted })
  }
})
process.on('disconnect', () => process.exit(0))
