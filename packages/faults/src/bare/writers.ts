// Runs clients that write to PostgreSQL or Redis and retry immediately. Finds the longest gap between their
// acknowledged writes.
import { pause } from '../children.ts'

export type Write = { id: string; at: number }
export type Writers = {
  /** Acknowledged writes, in order. */
  acknowledged: Write[]
  /** Stops the writers and waits for their last write. */
  stop(): Promise<void>
}
/** `write` resolves when the server has acknowledged the write with this id. */
type Connection = { write(id: string): Promise<unknown>; close(): void }

/**
 * Starts `count` writers. Each writer sends ids one at a time over its own connection, and reconnects after an
 * error.
 */
export function startWriters(count: number, open: () => Promise<Connection>): Writers {
  const acknowledged: Write[] = []
  const stopping = new AbortController()
  const write = async (writer: number): Promise<void> => {
    let connection: Connection | null = null
    for (let attempt = 1; !stopping.signal.aborted; attempt++) {
      const id = `${writer}-${attempt}`
      try {
        connection ??= await open()
        await connection.write(id)
        acknowledged.push({ id, at: Date.now() })
      } catch {
        connection?.close()
        connection = null
      }
      // The pause prevents this machine from becoming the bottleneck, because the test measures the server.
      await pause(5)
    }
    connection?.close()
  }
  const workers = Array.from({ length: count }, (_, index) => write(index + 1))
  return {
    acknowledged,
    stop: async () => {
      stopping.abort()
      await Promise.all(workers)
    },
  }
}

type Outage = { firstWriteMs: number; gapMs: number }
const slackMs = 200

/**
 * Returns the longest gap between acknowledged writes, from shortly before the fault on: its length, and the time from
 * the fault to its end. Writes that were in flight do not end an outage, and neither do writes to a leader that has
 * not been demoted yet.
 */
export function findOutage(writes: readonly Write[], faultAt: number): Outage {
  const times = writes.map(({ at }) => at).filter((at) => at >= faultAt - slackMs)
  let outage: Outage = { firstWriteMs: Infinity, gapMs: 0 }
  for (const [index, at] of times.entries()) {
    const gapMs = at - (times[index - 1] ?? faultAt)
    if (gapMs > outage.gapMs) outage = { firstWriteMs: at - faultAt, gapMs }
  }
  return outage
}

/** Returns the ids that were acknowledged but are missing. */
export function findLost(writes: readonly Write[], present: ReadonlySet<string>): string[] {
  return writes.map(({ id }) => id).filter((id) => !present.has(id))
}

/** Waits until writes have continued for `steadyMs` without a gap of 500 ms. Throws after two minutes. */
export async function awaitSteady({ acknowledged }: Writers, steadyMs: number): Promise<void> {
  const end = Date.now() + 120_000
  for (let since = Date.now(); Date.now() - since < steadyMs;) {
    await pause(100)
    const last = acknowledged.at(-1)?.at ?? 0
    if (Date.now() - last > 500) since = Date.now()
    if (Date.now() > end) throw new Error('no steady writes within 2 minutes')
  }
}
