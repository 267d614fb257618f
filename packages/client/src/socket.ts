// A WebSocket that reconnects after a failure, unless reconnecting cannot help.

type Hello = { connection_id: string; unread: boolean; ping_interval: number; reconnect_jitter_ms: number }
export type Frame = { readonly type: string } & Readonly<Record<string, unknown>>
export type SocketState =
  | { status: 'connecting' }
  | { status: 'open'; connectionId: string; unread: boolean }
  /** Disconnected. The socket reconnects automatically. */
  | { status: 'waiting'; code: number }
  /** The socket does not reconnect: after codes 4500 to 4502, and with 1000 after `close`. */
  | { status: 'ended'; code: number }
export type SocketOptions = {
  open: () => Promise<WebSocket>
  onFrame: (frame: Frame) => void
  onState: (state: SocketState) => void
}

const maxWaitMs = 30_000
const maxFrameLength = 1024 * 1024
const lost = 1006
// The maximum values that the Manager can be configured with.
const [maxPingSeconds, maxJitterMs] = [300, 300_000]
const firstHello: Hello = { connection_id: '', unread: false, ping_interval: 25, reconnect_jitter_ms: 1_000 }

/** The user has no access or too many sockets, or the client violated the protocol. */
const isFinal = (code: number): boolean => code >= 4500 && code < 4600

/** Returns a random delay, so that clients do not all reconnect together. Repeated failures raise its limit. */
const reconnectDelayMs = ({ reconnect_jitter_ms: jitterMs }: Hello, failures: number): number =>
  Math.random() * Math.max(jitterMs, Math.min(maxWaitMs, 500 * 2 ** failures))

/** Reads a hello frame. Missing or invalid times get the defaults, so that the client never loops without a delay. */
const helloOf = (frame: Frame): Hello => ({
  connection_id: typeof frame['connection_id'] === 'string' ? frame['connection_id'] : '',
  unread: frame['unread'] === true,
  ping_interval: isAtLeast(1, frame['ping_interval'])
    ? Math.min(frame['ping_interval'], maxPingSeconds)
    : firstHello.ping_interval,
  reconnect_jitter_ms: isAtLeast(0, frame['reconnect_jitter_ms'])
    ? Math.min(frame['reconnect_jitter_ms'], maxJitterMs)
    : firstHello.reconnect_jitter_ms,
})
const isAtLeast = (min: number, value: unknown): value is number => typeof value === 'number' && value >= min

/** Keeps a socket open until the returned function is called. */
export function maintainSocket({ open, onFrame, onState }: SocketOptions): () => void {
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let [hello, failures, isEnded] = [firstHello, 0, false]
  /** Does not wait for the close, and ignores later events of the socket. */
  const drop = (): void => {
    clearTimeout(timer)
    const dropped = socket
    socket = null
    dropped?.close()
  }
  const disconnect = (code: number, isOver = isFinal(code)): void => {
    if (isEnded) return
    drop()
    isEnded = isOver
    if (!isEnded) timer = setTimeout(() => void start(), reconnectDelayMs(hello, failures++))
    onState({ status: isEnded ? 'ended' : 'waiting', code })
  }
  const handleMessage = (from: WebSocket, { data }: MessageEvent): void => {
    const frame = parseFrame(data)
    if (from !== socket || frame === null) return
    if (frame.type === 'hello') [hello, failures] = [helloOf(frame), 0]
    clearTimeout(timer)
    timer = setTimeout(disconnect, 2_000 * hello.ping_interval, lost)
    if (frame.type === 'ping') from.send('{"type":"pong"}')
    else if (frame.type === 'hello')
      onState({ status: 'open', connectionId: hello.connection_id, unread: hello.unread })
    else onFrame(frame)
  }
  const start = async (): Promise<void> => {
    onState({ status: 'connecting' })
    const openTimeout = setTimeout(disconnect, maxWaitMs, lost)
    timer = openTimeout
    const opened = await open().catch(() => null)
    if (timer !== openTimeout || isEnded) return opened?.close()
    if (opened === null) return disconnect(lost)
    socket = opened
    opened.addEventListener('message', (event) => handleMessage(opened, event))
    opened.addEventListener('close', ({ code }) => socket === opened && disconnect(code))
  }
  void start()
  return () => disconnect(1000, true)
}

/** Returns null for an invalid frame. */
function parseFrame(data: unknown): Frame | null {
  if (typeof data !== 'string' || data.length > maxFrameLength) return null
  try {
    const frame = JSON.parse(data) as Partial<Frame> | null
    return typeof frame?.type === 'string' ? (frame as Frame) : null
  } catch {
    return null
  }
}
