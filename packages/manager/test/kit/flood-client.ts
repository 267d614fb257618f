// Sends requests with distinct client addresses over keep-alive connections.
import { Agent, request } from 'node:http'

let clients = 0
/** Returns an address that no other caller uses. */
export const nextClient = (): string =>
  `10.${20 + (++clients >> 16)}.${(clients >> 8) & 255}.${clients & 255}`

const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
/** Posts a JSON body. Resolves when the response has ended, rejects when it is aborted. */
export function post(url: string, headers: Record<string, string>, body: string, signal?: AbortSignal) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const all = { 'content-type': 'application/json', ...headers }
    const outgoing = request(url, { method: 'POST', agent, headers: all, signal }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
      response.once('error', reject)
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}
