// Clients that write to an engine and try again at once, and what can be said of their record.
import { pause } from '../children.ts'

export type Write = { id: string; at: number }
export type Writers = {
  /** What was acknowledged, in order. */
  acknowledged: Write[]
  /** Ends the writers and waits for them. */
  stop(): Promise<void>
}
/** A connection: resolves when the engine has acknowledged the id. */
type Connection = { write(id: string): Promise<unknown>; close(): void }

/** Each writes, with a connection of its own, one id after the other; after an error it takes another connection and id. */
export function startWriters(count: number, open: () => Promise<Connection>): Writers {
  const acknowledged: Write[] = []
  const over = new AbortController()
  const write = async (writer: number): Promise<void> => {
    let connection: Connection | null = null
    for (let turn = 1; !over.signal.aborted; turn++) {
      const id = `${writer}-${turn}`
      try {
        connection ??= await open()
        await connection.write(id)
        acknowledged.push({ id, at: Date.now() })
      } catch {
        connection?.close()
        connection = null
      }
      // The engine is measured, not how many writes the machine has room for.
      await pause(5)
    }
    connection?.close()
  }
  const ends = Array.from({ length: count }, (_, index) => write(index + 1))
  return {
    acknowledged,
    stop: async () => {
      over.abort()
      await Promise.all(ends)
    },
  }
}

type Outage = { firstWriteMs: number; gapMs: number }
const slackMs = 200

/**
 * The longest time without an acknowledged write, from just before the fault on: its length, and when it ended after the
 * fault. Writes on their way when the fault came, and those of a leader that does not know yet, end no outage.
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

/** What was acknowledged and is not there. */
export function findLost(writes: readonly Write[], present: ReadonlySet<string>): string[] {
  return writes.map(({ id }) => id).filter((id) => !present.has(id))
}

/** Waits until writes have gone on for this long without a pause, for at most two minutes. */
export async function awaitSteady({ acknowledged }: Writers, steadyMs: number): Promise<void> {
  const end = Date.now() + 120_000
  for (let since = Date.now(); Date.now() - since < steadyMs;) {
    await pause(100)
    const last = acknowledged.at(-1)?.at ?? 0
    if (Date.now() - last > 500) since = Date.now()
    if (Date.now() > end) throw new Error('no steady writes within two minutes')
  }
}
