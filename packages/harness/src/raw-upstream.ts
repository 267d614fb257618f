// An upstream that writes exactly the given bytes and records all requests.
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { type TlsOptions, createServer as createTlsServer } from 'node:tls'
import { type Message, readMessages } from './http-messages.ts'

/** Responds to one request by writing to its connection. */
export type Play = (socket: Socket, request: Message) => void

export type RawUpstream = {
  url: string
  /** Currently open connections. */
  sockets: Set<Socket>
  /** Complete requests, in order of completion. */
  requests: Message[]
  /** Parser errors: received bytes that are not a request, or that two parsers could interpret differently. */
  problems: string[]
  /** Returns all received bytes. */
  bytes(): Buffer
  close(): Promise<void>
}

export type RawUpstreamOptions = {
  /** When to respond: once the request is complete, or once its head has arrived. */
  when?: 'whole' | 'head'
  tls?: TlsOptions
}

/** Starts the upstream on a free loopback port. */
export async function startRawUpstream(play: Play, options: RawUpstreamOptions = {}): Promise<RawUpstream> {
  const { when = 'whole', tls } = options
  const sockets = new Set<Socket>()
  const requests: Message[] = []
  const problems: string[] = []
  const connections: Buffer[][] = []
  const onConnection = (socket: Socket): void => {
    const chunks: Buffer[] = []
    connections.push(chunks)
    let [kept, played] = [0, 0]
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    const handleData = (): void => {
      const started = readMessages(Buffer.concat(chunks), { type: 'requests' })
      const whole = started.filter(({ isWhole }) => isWhole)
      requests.push(...whole.slice(kept))
      kept = whole.length
      const ready = when === 'head' ? started : whole
      while (played < ready.length) play(socket, ready[played++] as Message)
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      try {
        handleData()
      } catch (error) {
        problems.push(String(error))
        socket.destroy()
      }
    })
  }
  const server: Server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection)
  // Handshakes that the client aborts are expected.
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    sockets,
    requests,
    problems,
    bytes: () => Buffer.concat(connections.flat()),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
