// A WebSocket that reconnects after a failure, unless reconnecting would be useless.

type Hello = { connection_id: string; unread: boolean; ping_interval: number; reconnect_jitter_ms: number }
export type Frame = { readonly type: string } & Readonly<Record<string, unknown>>
export type SocketState =
  | { status: 'connecting' }
  | { status: 'open'; connectionId: string; unread: boolean }
  /** The socket is disconnected and reconnects automatically. */
  | { status: 'waiting'; code: number }
  /** The socket does not reconnect. The code is from 4500 to 4502, or 1000 after `close`. */
  | { status: 'ended'; code: number }
export type SocketOptions = {
  open: () => Promise<WebSocket>
  onFrame: (frame: Frame) => void
  onState: (state: SocketState) => void
}

const maxWaitMs = 30_000
const maxFrameLength = 1024 * 1024
const connectionLost = 1006
// The maximum values that the configuration of the Manager allows.
const [maxPingSeconds, maxJitterMs] = [300, 300_000]
const defaultHello: Hello = {
  connection_id: '',
  unread: false,
  ping_interval: 25,
  reconnect_jitter_ms: 1_000,
}

/**
 * Returns whether reconnecting would be useless: the user has no access or too many sockets, or the client violated
 * the protocol.
 */
const isFinal = (code: number): boolean => code >= 4500 && code < 4600

/**
 * Returns a random delay, so that clients do not all reconnect at the same time. Repeated failures raise the maximum
 * delay.
 */
const computeReconnectDelayMs = ({ reconnect_jitter_ms: jitterMs }: Hello, failures: number): number =>
  Math.random() * Math.max(jitterMs, Math.min(maxWaitMs, 500 * 2 ** failures))

/**
 * Parses a hello frame. Missing or invalid times are replaced by defaults, so that the client never loops
 * without a delay.
 */
const parseHello = (frame: Frame): Hello => ({
  connection_id: typeof frame['connection_id'] === 'string' ? frame['connection_id'] : '',
  unread: frame['unread'] === true,
  ping_interval: isAtLeast(1, frame['ping_interval'])
    ? Math.min(frame['ping_interval'], maxPingSeconds)
    : defaultHello.ping_interval,
  reconnect_jitter_ms: isAtLeast(0, frame['reconnect_jitter_ms'])
    ? Math.min(frame['reconnect_jitter_ms'], maxJitterMs)
    : defaultHello.reconnect_jitter_ms,
})
const isAtLeast = (min: number, value: unknown): value is number => typeof value === 'number' && value >= min

/** Keeps a socket open until the returned function is called. */
export function maintainSocket({ open, onFrame, onState }: SocketOptions): () => void {
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let [hello, failures, isEnded] = [defaultHello, 0, false]
  /** Closes the socket without waiting for the close event. Later events of the socket are ignored. */
  const drop = (): void => {
    clearTimeout(timer)
    const previousSocket = socket
    socket = null
    previousSocket?.close()
  }
  const disconnect = (code: number, isEnd = isFinal(code)): void => {
    if (isEnded) return
    drop()
    isEnded = isEnd
    if (!isEnded) timer = setTimeout(() => void start(), computeReconnectDelayMs(hello, failures++))
    onState({ status: isEnded ? 'ended' : 'waiting', code })
  }
  const handleMessage = (source: WebSocket, { data }: MessageEvent): void => {
    const frame = parseFrame(data)
    if (source !== socket || frame === null) return
    if (frame.type === 'hello') [hello, failures] = [parseHello(frame), 0]
    clearTimeout(timer)
    timer = setTimeout(disconnect, 2_000 * hello.ping_interval, connectionLost)
    if (frame.type === 'ping') source.send('{"type":"pong"}')
    else if (frame.type === 'hello')
      onState({ status: 'open', connectionId: hello.connection_id, unread: hello.unread })
    else onFrame(frame)
  }
  const start = async (): Promise<void> => {
    onState({ status: 'connecting' })
    const openTimeout = setTimeout(disconnect, maxWaitMs, connectionLost)
    timer = openTimeout
    const newSocket = await open().catch(() => null)
    if (timer !== openTimeout || isEnded) return newSocket?.close()
    if (newSocket === null) return disconnect(connectionLost)
    socket = newSocket
    newSocket.addEventListener('message', (event) => handleMessage(newSocket, event))
    newSocket.addEventListener('close', ({ code }) => socket === newSocket && disconnect(code))
  }
  void start()
  return () => disconnect(1000, true)
}

/** Parses a frame. Returns null if it is invalid. */
function parseFrame(data: unknown): Frame | null {
  if (typeof data !== 'string' || data.length > maxFrameLength) return null
  try {
    const frame = JSON.parse(data) as Partial<Frame> | null
    return typeof frame?.type === 'string' ? (frame as Frame) : null
  } catch {
    return null
  }
}
