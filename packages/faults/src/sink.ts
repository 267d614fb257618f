// Client of the process that runs the stub backends (sink-server.ts).
import { type Child, endChild, startChild, until } from './children.ts'
import type { Delivery } from './recorder.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

/** `ok`, `ok:<response time in ms>`, `hang`, `500`, `429:<Retry-After in seconds>` or `reset`. */
export type Mode = 'ok' | `ok:${number}` | 'hang' | '500' | `429:${number}` | 'reset'
export type Sink = {
  pid: number
  /** Number of destinations. */
  size: number
  /** The callback URL of a destination. */
  urlOf(destination: number): string
  setMode(destinations: readonly number[], mode: Mode): Promise<void>
  /** Number of requests since the record was cleared. */
  count(): Promise<number>
  deliveries(): Promise<Delivery[]>
  /** Maximum number of concurrent requests at each destination. */
  peaks(): Promise<number[]>
  clear(): Promise<void>
  end(): Promise<void>
}

const program = new URL('sink-server.ts', import.meta.url).pathname

/** Starts the backends and waits until they listen. */
export async function startSink(folder: string, size: number): Promise<Sink> {
  const port = await freePort()
  const child: Child = startChild({
    args: [program, String(port), String(size)],
    env: {},
    logFile: `${folder}/sink.log`,
  })
  const url = `http://127.0.0.1:${port}`
  const read = async (path: string): Promise<string> => (await fetch(url + path)).text()
  await until('the start of the backends', 20_000, async () => (await read('/count')) === '0')
  return {
    pid: child.pid,
    size,
    urlOf: (destination) =>
      `http://127.10.${Math.floor(destination / 250)}.${(destination % 250) + 1}:${port}/`,
    setMode: async (destinations, mode) => {
      await fetch(url, { method: 'POST', body: JSON.stringify({ destinations, mode }) })
    },
    count: async () => Number(await read('/count')),
    deliveries: async () => {
      const lines = (await read('/records')).split('\n')
      return lines.filter(Boolean).map((line) => JSON.parse(line) as Delivery)
    },
    peaks: async () => JSON.parse(await read('/peaks')) as number[],
    clear: async () => void (await read('/clear')),
    end: () => endChild(child),
  }
}
