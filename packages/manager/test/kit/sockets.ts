// Opens WebSockets as a browser does: through the proxy, which sends the user and the tenant.
import { WebSocket } from 'ws'
import { proxySecret } from '@manager/harness/callers.ts'

export type Seat = { userId: string; tenantId: string; applicationId: string }
type FrameText = { type: string; [name: string]: unknown }

export type TestSocket = {
  client: WebSocket
  /** Every received frame, in order. */
  frames: FrameText[]
  /** Returns the received frames except pings. */
  framesWithoutPings(): FrameText[]
  /** Resolves with the hello frame. Rejects if the socket closes first. */
  hello: Promise<FrameText>
  /** Resolves with the close code. */
  closed: Promise<number>
}

/** Returns the headers that the proxy sends for a user in a tenant. */
export const seatHeaders = ({
  userId,
  tenantId,
}: Pick<Seat, 'userId' | 'tenantId'>): Record<string, string> => ({
  'x-proxy-auth': proxySecret,
  'x-user-id': userId,
  'x-tenant-id': tenantId,
})

export const socketPath = (applicationId: string): string => `/api/proxy/comms/${applicationId}/ws`

/** Opens a socket that answers pings unless `answersPings` is false. */
export function openSocket(
  url: string,
  seat: Seat,
  { answersPings = true, headers = {} }: { answersPings?: boolean; headers?: Record<string, string> } = {},
): TestSocket {
  const address = `${url.replace('http', 'ws')}${socketPath(seat.applicationId)}`
  const client = new WebSocket(address, { headers: { ...seatHeaders(seat), ...headers } })
  const frames: FrameText[] = []
  const { promise: hello, resolve, reject } = Promise.withResolvers<FrameText>()
  hello.catch(() => undefined)
  client.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as FrameText
    frames.push(frame)
    if (frame.type === 'hello') resolve(frame)
    if (frame.type === 'ping' && answersPings) client.send('{"type":"pong"}')
  })
  client.on('error', reject)
  const closed = new Promise<number>((done) =>
    client.on('close', (code) => {
      reject(new Error(`closed with ${code}`))
      done(code)
    }),
  )
  return {
    client,
    frames,
    framesWithoutPings: () => frames.filter(({ type }) => type !== 'ping'),
    hello,
    closed,
  }
}

/** Returns the response to a rejected handshake. */
export function refusedHandshake(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string } | 'opened'> {
  return new Promise((resolve, reject) => {
    const client = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
    client.on('error', reject)
    client.on('open', () => {
      client.terminate()
      resolve('opened')
    })
    client.on('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (piece: Buffer) => (body += piece.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
  })
}
