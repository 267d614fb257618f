// Responses to malformed and incomplete requests, which no route can handle.
import { type ServerResponse, maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'

const malformedResponse = { status: '400 Bad Request', text: 'the request is malformed' }
const responsesByCode: Record<string, typeof malformedResponse> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    text: `the request headers exceed ${maxHeaderSize} bytes; send fewer or shorter headers`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    text: 'timed out before the complete request arrived; send it again',
  },
}

/**
 * Responds to data that never becomes a request, and closes the connection. After the head of a response,
 * nothing is written: the text would look like a part of the body.
 */
export function respondToBrokenRequest(error: { code?: string }, socket: Socket): void {
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse }
  if (socket.writable && response?.headersSent !== true && error.code !== 'ECONNRESET') {
    const { status, text } = responsesByCode[error.code ?? ''] ?? malformedResponse
    const body = JSON.stringify({ error: text, code: 'bad_request' })
    socket.write(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}
