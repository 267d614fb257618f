// An upstream that writes exactly the bytes it is told, and keeps what it was sent.
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { type TlsOptions, createServer as createTlsServer } from 'node:tls'
import { type Message, readMessages } from './http-messages.ts'

/** Answers one request by writing to its connection. */
export type Play = (socket: Socket, request: Message) => void

export type RawUpstream = {
  url: string
  /** Connections that are open now. */
  sockets: Set<Socket>
  /** Requests that came to their end, in this order. */
  requests: Message[]
  /** What came that is no request, or one that two readers could take differently. */
  problems: string[]
  /** Every byte that came. */
  bytes(): Buffer
  close(): Promise<void>
}

export type RawUpstreamOptions = {
  /** When a request is answered: once it is complete, or once its head is there. */
  when?: 'whole' | 'head'
  tls?: TlsOptions
}

/** Starts it on a free port of this machine. */
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
    const take = (): void => {
      const begun = readMessages(Buffer.concat(chunks), { of: 'requests' })
      const whole = begun.filter(({ isWhole }) => isWhole)
      requests.push(...whole.slice(kept))
      kept = whole.length
      const ready = when === 'head' ? begun : whole
      while (played < ready.length) play(socket, ready[played++] as Message)
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      try {
        take()
      } catch (error) {
        problems.push(String(error))
        socket.destroy()
      }
    })
  }
  const server: Server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection)
  // A handshake that the other side gives up is expected.
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
