// Sends individual commands to a Redis server or sentinel, each over a new connection.
import { createClient } from 'redis'

/** Returns the reply, or null if the server returns an error or does not reply within 1 s. */
export async function sendRedisCommand(port: number, ...command: string[]): Promise<unknown> {
  const client = createClient({
    socket: {
      host: '127.0.0.1',
      port,
      reconnectStrategy: false,
      connectTimeout: 1_000,
      socketTimeout: 1_000,
    },
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await client.sendCommand(command)
  } catch {
    return null
  } finally {
    if (client.isOpen) client.destroy()
  }
}

/** Returns the fields of one INFO section. */
export async function fetchInfo(port: number, section: string): Promise<Record<string, string>> {
  const lines = String(await sendRedisCommand(port, 'INFO', section)).split('\r\n')
  return Object.fromEntries(
    lines
      .filter((line) => line.includes(':'))
      .map((line) => line.split(/:(.*)/s).slice(0, 2) as [string, string]),
  )
}

/** Waits for the condition and throws after 60 s. */
export async function waitFor(what: string, condition: () => Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 60_000; !(await condition());) {
    if (Date.now() > until) throw new Error(`timed out after 60 s waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
