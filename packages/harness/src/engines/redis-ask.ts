// What a Redis server or sentinel says, by a connection for one question.
import { createClient } from 'redis'

/** The reply; null when it does not answer within a second, or refuses. */
export async function askRedis(port: number, ...command: string[]): Promise<unknown> {
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

/** A section of INFO. */
export async function infoOf(port: number, section: string): Promise<Record<string, string>> {
  const lines = String(await askRedis(port, 'INFO', section)).split('\r\n')
  return Object.fromEntries(
    lines
      .filter((line) => line.includes(':'))
      .map((line) => line.split(/:(.*)/s).slice(0, 2) as [string, string]),
  )
}

/** Waits for at most a minute. */
export async function waitFor(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 60_000; !(await isSo());) {
    if (Date.now() > until) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
