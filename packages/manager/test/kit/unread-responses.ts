// Sends requests to a server with a connection limit, and does not read the responses.
import { type Server, createServer, get } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { limitConnections } from '../../src/platform/http/connection-limit.ts'

export const large = Buffer.alloc(16 * 1_048_576)
export const requestText = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

/** Manages one server at a time and the connections to it, until `end` is called. */
export function unreadResponses() {
  let server: Server
  const sockets: Socket[] = []
  const seen = { closed: 0, served: 0 }

  /**
   * Starts a server. /large returns more than the socket buffers can hold, /late responds after a delay, and all other
   * paths respond immediately.
   */
  async function start(limits: { max: number; unreadMs: number }): Promise<void> {
    Object.assign(seen, { closed: 0, served: 0 })
    server = createServer((request, response) => {
      seen.served++
      if (request.url === '/late') setTimeout(() => response.end('late'), 3 * limits.unreadMs)
      else response.end(request.url === '/large' ? large : 'small')
    })
    limitConnections(server, limits, () => seen.closed++)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  }
  /** Uses the given server for the following requests. */
  const use = (other: Server): void => void (server = other)
  const end = (): void => {
    for (const socket of sockets.splice(0)) socket.destroy()
    server.closeAllConnections()
    server.close()
  }
  const portOf = (): number => (server.address() as AddressInfo).port

  async function send(text: string): Promise<Socket> {
    const socket = connect(portOf(), '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.pause()
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    socket.write(text)
    return socket
  }
  const open = (): Promise<number> => new Promise((resolve) => server.getConnections((_, n) => resolve(n)))
  const fetchText = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      get({ port: portOf(), path, agent: false }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve(text))
      }).on('error', reject)
    })
  return { seen, start, use, end, send, open, fetchText }
}
