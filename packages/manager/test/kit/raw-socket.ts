// A connection of which every byte is ours: sends what no client would, and keeps what comes back.
import { type Socket, connect } from 'node:net'
import { type Message, type MessageKind, readMessages, statusOf } from '@manager/harness/http-messages.ts'

export type RawSocket = {
  socket: Socket
  /** Texts are sent as Latin-1. */
  send(bytes: string | Buffer): void
  /** Everything that came so far. */
  received(): Buffer
  /** How the other side ended the connection; null while it has not. */
  ended(): 'end' | 'reset' | null
  /** Waits until this holds, or until the connection is over; it is asked whenever something happens. */
  until(holds: () => boolean): Promise<void>
  /** The answers so far, without interim ones; the last may be incomplete. */
  answers(kind?: Partial<MessageKind>): Message[]
  /** Waits for so many whole answers, or for the end; answers those there are. */
  wholeAnswers(count: number, kind?: Partial<MessageKind>): Promise<Message[]>
}

const patienceMs = 60_000

/** Connects to the host of the URL. */
export async function openRaw(url: string): Promise<RawSocket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  const waiting = new Set<() => void>()
  let end: 'end' | 'reset' | null = null
  const wake = (): void => {
    for (const look of waiting) look()
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
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const overdue = setTimeout(() => {
        waiting.delete(look)
        reject(
          new Error(`still waiting; so far: ${JSON.stringify(received().toString('latin1').slice(-500))}`),
        )
      }, patienceMs)
      const look = (): void => {
        if (end === null && !holds()) return
        clearTimeout(overdue)
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  const answers = (kind: Partial<MessageKind> = {}): Message[] =>
    readMessages(received(), { of: 'answers', isOver: end === 'end', ...kind }).filter(
      (message) => statusOf(message) >= 200,
    )
  return {
    socket,
    send: (bytes) => void socket.write(bytes, 'latin1'),
    received,
    ended: () => end,
    until,
    answers,
    wholeAnswers: async (count, kind) => {
      await until(() => answers(kind).filter(({ isWhole }) => isWhole).length >= count)
      return answers(kind)
    },
  }
}
