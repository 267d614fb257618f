// A websocket that comes back when it is lost, and stays away when coming back would not help.

type Hello = { connection_id: string; unread: boolean; ping_interval: number; reconnect_jitter_ms: number }
export type Frame = { readonly type: string } & Readonly<Record<string, unknown>>
export type SocketState =
  | { status: 'connecting' }
  | { status: 'open'; connectionId: string; unread: boolean }
  /** Lost; it comes back by itself. */
  | { status: 'waiting'; code: number }
  /** It does not come back: after 4500 to 4502, and with 1000 after `close`. */
  | { status: 'ended'; code: number }
export type SocketOptions = {
  open: () => Promise<WebSocket>
  onFrame: (frame: Frame) => void
  onState: (state: SocketState) => void
}

const maxWaitMs = 30_000
const maxFrameLength = 1024 * 1024
const lost = 1006
// The longest that the Manager can be set to.
const [maxPingSeconds, maxJitterMs] = [300, 300_000]
const firstHello: Hello = { connection_id: '', unread: false, ping_interval: 25, reconnect_jitter_ms: 1_000 }

/** Access is gone, there are too many sockets, or the protocol was broken. */
const isFinal = (code: number): boolean => code >= 4500 && code < 4600

/** A random part of what the Manager asks for, so that all those it sent away do not return together; later of more. */
const returnMs = ({ reconnect_jitter_ms: jitterMs }: Hello, failures: number): number =>
  Math.random() * Math.max(jitterMs, Math.min(maxWaitMs, 500 * 2 ** failures))

/** What a hello says. Times that are absent or wrong are those before the first one: a loop without a wait is not held. */
const helloOf = (frame: Frame): Hello => ({
  connection_id: typeof frame['connection_id'] === 'string' ? frame['connection_id'] : '',
  unread: frame['unread'] === true,
  ping_interval: isFrom(1, frame['ping_interval'])
    ? Math.min(frame['ping_interval'], maxPingSeconds)
    : firstHello.ping_interval,
  reconnect_jitter_ms: isFrom(0, frame['reconnect_jitter_ms'])
    ? Math.min(frame['reconnect_jitter_ms'], maxJitterMs)
    : firstHello.reconnect_jitter_ms,
})
const isFrom = (min: number, value: unknown): value is number => typeof value === 'number' && value >= min

/** Holds a socket until the returned function is called. */
export function holdSocket({ open, onFrame, onState }: SocketOptions): () => void {
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let [hello, failures, isEnded] = [firstHello, 0, false]
  /** The end of a socket is not waited for, and what it says from here on is not listened to. */
  const drop = (): void => {
    clearTimeout(timer)
    const dropped = socket
    socket = null
    dropped?.close()
  }
  const end = (code: number, isOver = isFinal(code)): void => {
    if (isEnded) return
    drop()
    isEnded = isOver
    if (!isEnded) timer = setTimeout(() => void start(), returnMs(hello, failures++))
    onState({ status: isEnded ? 'ended' : 'waiting', code })
  }
  const take = (from: WebSocket, { data }: MessageEvent): void => {
    const frame = parseFrame(data)
    if (from !== socket || frame === null) return
    if (frame.type === 'hello') [hello, failures] = [helloOf(frame), 0]
    clearTimeout(timer)
    timer = setTimeout(end, 2_000 * hello.ping_interval, lost)
    if (frame.type === 'ping') from.send('{"type":"pong"}')
    else if (frame.type === 'hello')
      onState({ status: 'open', connectionId: hello.connection_id, unread: hello.unread })
    else onFrame(frame)
  }
  const start = async (): Promise<void> => {
    onState({ status: 'connecting' })
    const givingUp = setTimeout(end, maxWaitMs, lost)
    timer = givingUp
    const opened = await open().catch(() => null)
    if (timer !== givingUp || isEnded) return opened?.close()
    if (opened === null) return end(lost)
    socket = opened
    opened.addEventListener('message', (event) => take(opened, event))
    opened.addEventListener('close', ({ code }) => socket === opened && end(code))
  }
  void start()
  return () => end(1000, true)
}

/** Null for what is no frame. */
function parseFrame(data: unknown): Frame | null {
  if (typeof data !== 'string' || data.length > maxFrameLength) return null
  try {
    const frame = JSON.parse(data) as Partial<Frame> | null
    return typeof frame?.type === 'string' ? (frame as Frame) : null
  } catch {
    return null
  }
}
