// The upstreams of the ESB, as the harness sees them (upstream-program.ts runs them).
import { randomBytes } from 'node:crypto'
import { endChild, startChild, until } from '../children.ts'
import { createControl } from '../control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

export type Upstreams = {
  /** Answers every call with 200. */
  url: string
  /** What the good one wants as a Bearer token. */
  secret: string
  /** Misbehaves in the way that `?case=<number>` tells. */
  badUrl: string
  /** The ids of the requests that reached the good one. */
  hits(): Promise<string[]>
  /** How many requests reached the bad one. */
  badHits(): Promise<number>
  /** How many connections the bad one has open. */
  open(): Promise<number>
  end(): Promise<void>
}

const program = new URL('upstream-program.ts', import.meta.url).pathname

/** Starts them and waits until they listen. */
export async function startUpstreams(folder: string): Promise<Upstreams> {
  const port = await freePort()
  const secret = randomBytes(24).toString('base64url')
  const child = startChild({
    args: [program, String(port), secret],
    env: {},
    logFile: `${folder}/upstreams.log`,
  })
  const control = createControl(port)
  await until('the start of the upstreams', 20_000, async () => (await control('open')) === 0)
  const urls = await control<{ good: string; bad: string }>('urls')
  return {
    url: urls.good,
    secret,
    badUrl: urls.bad,
    hits: () => control('hits'),
    badHits: () => control('badHits'),
    open: () => control('open'),
    end: () => endChild(child),
  }
}
