// A raw connection for bytes that no regular client would send. It stores the received bytes.
import { type Socket, connect } from 'node:net'
import { type Message, type MessageKind, readMessages, statusOf } from '@manager/harness/http-messages.ts'

export type RawSocket = {
  socket: Socket
  /** Strings are sent as Latin-1. */
  send(bytes: string | Buffer): void
  /** Returns all bytes received so far. */
  received(): Buffer
  /** How the remote side ended the connection; null while the connection is open. */
  ended(): 'end' | 'reset' | null
  /** Waits until the condition is true or the connection is closed. Checks the condition on every socket event. */
  waitUntil(condition: () => boolean): Promise<void>
  /**
   * Returns the responses received so far, without interim responses. The last response may be incomplete.
   */
  responses(kind?: Partial<MessageKind>): Message[]
  /** Waits for `count` complete responses or the end of the connection, and returns the responses received so far. */
  completeResponses(count: number, kind?: Partial<MessageKind>): Promise<Message[]>
}

const timeoutMs = 60_000

/** Connects to the host of the URL. */
export async function openRaw(url: string): Promise<RawSocket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  const waiting = new Set<() => void>()
  let end: 'end' | 'reset' | null = null
  const wake = (): void => {
    for (const check of waiting) check()
  }
  const endBy = (how: 'end' | 'reset'): void => {
    end ??= how
    wake()
  }
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    wake()
  })
  socket.once('end', () => endBy('end'))
  socket.once('error', () => endBy('reset'))
  socket.once('close', () => endBy('end'))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  const received = (): Buffer => Buffer.concat(chunks)
  const waitUntil = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const overdue = setTimeout(() => {
        waiting.delete(check)
        reject(
          new Error(
            `timed out; received so far: ${JSON.stringify(received().toString('latin1').slice(-500))}`,
          ),
        )
      }, timeoutMs)
      const check = (): void => {
        if (end === null && !condition()) return
        clearTimeout(overdue)
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  const responses = (kind: Partial<MessageKind> = {}): Message[] =>
    readMessages(received(), { type: 'responses', isOver: end === 'end', ...kind }).filter(
      (message) => statusOf(message) >= 200,
    )
  return {
    socket,
    send: (bytes) => void socket.write(bytes, 'latin1'),
    received,
    ended: () => end,
    waitUntil,
    responses,
    completeResponses: async (count, kind) => {
      await waitUntil(() => responses(kind).filter(({ isWhole }) => isWhole).length >= count)
      return responses(kind)
    },
  }
}
