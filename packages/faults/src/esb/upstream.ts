// Client of the process that runs the ESB upstreams (upstream-program.ts).
import { randomBytes } from 'node:crypto'
import { endChild, startChild, until } from '../children.ts'
import { createControl } from '../control.ts'
import { freePort } from '@manager/harness/engines/postgres.ts'

export type Upstreams = {
  /** The good upstream. It returns 200 for every call that has the secret. */
  url: string
  /** Bearer token that the good upstream requires. */
  secret: string
  /** The bad upstream. It misbehaves as `?case=<number>` specifies. */
  badUrl: string
  /** Request ids that reached the good upstream. */
  hits(): Promise<string[]>
  /** Number of requests that reached the bad upstream. */
  badHits(): Promise<number>
  /** Number of open connections to the bad upstream. */
  open(): Promise<number>
  end(): Promise<void>
}

const program = new URL('upstream-program.ts', import.meta.url).pathname

/** Starts the upstreams and waits until they listen. */
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
