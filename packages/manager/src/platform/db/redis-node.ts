// A server that commands go to, and the knowledge within a second whether it answers.
import { type OpenClient, type Place, type RedisClient, tooLate, within } from './redis-client.ts'

export type RedisNode = {
  /** False while it does not answer, and until the first connection. */
  isUp(): boolean
  /** True from when it is known not to answer. */
  isDown(): boolean
  /** The result; rejects when it fails or does not come in time, and the first that is late marks the server as down. */
  run<T>(command: (client: RedisClient) => Promise<T>): Promise<T>
  /** As `run`, without a limit of time: it ends with the connection at the latest. */
  send<T>(command: (client: RedisClient) => Promise<T>): Promise<T>
  close(): void
}

export type Timeouts = { pingMs: number; commandMs: number }

const pingIntervalMs = 500

/** Connects in the background and keeps trying until it is closed; `note` hears of every success and failure. */
export function createRedisNode(
  place: Place,
  { open, timeouts, note }: { open: OpenClient; timeouts: Timeouts; note: (error?: unknown) => void },
): RedisNode {
  const client = open(place, { reconnects: true })
  let up: boolean | null = null
  let closed = false
  const noteState = (answers: boolean, error?: unknown): void => {
    if (closed) return
    up = answers
    note(error)
  }
  let pending: Promise<unknown> | null = null
  const ping = async (): Promise<unknown> => client.ping()
  const probe = async (): Promise<void> => {
    // An attempt to connect is under way; how it ends is reported.
    if (!client.isReady) return
    // While one ping waits for a Redis that hangs, no further one is queued behind it.
    pending ??= ping().finally(() => (pending = null))
    const failure = await within(timeouts.pingMs, pending).then(
      () => null,
      (error: unknown) => error,
    )
    noteState(failure === null, failure)
  }
  client.on('error', (error) => noteState(false, error))
  client.on('ready', () => void probe())
  client.connect().catch((error: unknown) => noteState(false, error))
  const timer = setInterval(() => void probe(), pingIntervalMs)
  timer.unref()
  return {
    isUp: () => up === true,
    isDown: () => up === false,
    send: (command) => command(client),
    run: async (command) => {
      try {
        return await within(timeouts.commandMs, command(client))
      } catch (error) {
        if (error === tooLate) noteState(false, error)
        throw error
      }
    },
    close: () => {
      closed = true
      clearInterval(timer)
      client.destroy()
    },
  }
}
