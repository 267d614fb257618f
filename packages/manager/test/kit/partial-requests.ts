// Sends only the first part of a request, and the rest later or never.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, statusOf, valuesOf } from '@manager/harness/http-messages.ts'
import { type RawSocket, openRaw } from './raw-socket.ts'

export type Head = { path: string; headers?: Record<string, string>; length: string }

export const headOf = ({ path, headers = {}, length }: Head): string =>
  `POST ${path} HTTP/1.1\r\nhost: h\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${length}\r\n\r\n`

/** Opens a connection and sends the head of a request. */
export async function startRequest(url: string, head: Head): Promise<RawSocket> {
  const raw = await openRaw(url)
  raw.send(headOf(head))
  return raw
}

/** Returns the parts of a response that tests compare. */
export const summaryOf = (answer: Message | undefined): unknown[] =>
  answer === undefined
    ? []
    : [
        statusOf(answer),
        (JSON.parse(answer.body.toString()) as { error: string }).error,
        ...valuesOf(answer, 'cache-control'),
      ]

const piece = Buffer.alloc(65_536, ' ')
const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])

/**
 * Sends data until the connection is closed or `maxBytes` are sent. It sends slowly until a response arrives, because a
 * reset discards data that the client has not read yet.
 */
export async function keepSending(raw: RawSocket, maxBytes: number, isChunked: boolean): Promise<void> {
  const closed = new Promise<void>((resolve) => raw.socket.once('close', () => resolve()))
  for (let sent = 0; raw.ended() === null && sent < maxBytes; sent += piece.length) {
    const isBelowHighWaterMark = raw.socket.write(isChunked ? chunk : piece)
    if (raw.received().length === 0) await sleep(5)
    else if (!isBelowHighWaterMark)
      await Promise.race([closed, new Promise<void>((resolve) => raw.socket.once('drain', resolve))])
  }
}
