// Requests of which the client sends a part, and the rest later or never.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, statusOf, valuesOf } from '@manager/harness/http-messages.ts'
import { type RawSocket, openRaw } from './raw-socket.ts'

export type Head = { path: string; headers?: Record<string, string>; length: string }

export const headOf = ({ path, headers = {}, length }: Head): string =>
  `POST ${path} HTTP/1.1\r\nhost: h\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${length}\r\n\r\n`

/** A connection with the head of a request. */
export async function beginRequest(url: string, head: Head): Promise<RawSocket> {
  const raw = await openRaw(url)
  raw.send(headOf(head))
  return raw
}

/** What a test says of an answer. */
export const told = (answer: Message | undefined): unknown[] =>
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
 * Sends on until the connection is closed, or so many bytes are sent. Before there is an answer it sends slowly: what a
 * client has not read when the connection is reset is lost.
 */
export async function sendOn(raw: RawSocket, maxBytes: number, isChunked: boolean): Promise<void> {
  const closed = new Promise<void>((resolve) => raw.socket.once('close', () => resolve()))
  for (let sent = 0; raw.ended() === null && sent < maxBytes; sent += piece.length) {
    const isTaken = raw.socket.write(isChunked ? chunk : piece)
    if (raw.received().length === 0) await sleep(5)
    else if (!isTaken)
      await Promise.race([closed, new Promise<void>((resolve) => raw.socket.once('drain', resolve))])
  }
}
