// WebSocket benchmark baseline: a ws server that writes a prebuilt frame to all sockets on request.
import { type AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { prepareFrame } from '../src/platform/sockets/frames.ts'

const sockets = new Set<{ write(bytes: Buffer): unknown }>()
const server = createServer((request, response) => {
  const frame = prepareFrame(decodeURIComponent((request.url ?? '/').slice(1)))
  for (const socket of sockets) socket.write(frame)
  response.end()
})
const socketServer = new WebSocketServer({ server, perMessageDeflate: false })
socketServer.on('connection', (client: WebSocket, { socket }) => {
  sockets.add(socket)
  client.on('close', () => sockets.delete(socket))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
