// The slow hash of secrets that people choose or that must not be guessed from a stolen database: PBKDF2-SHA256 with
// 600,000 iterations, about 0.15 s of a core. It runs in worker threads of low priority. Making secrets, proving tokens
// and trying passwords take turns, and so do the projects, and the names within a project: whoever floods the queue waits
// for long and is refused, and the others hardly wait longer.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Piscina } from 'piscina'
import { unavailable } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { type Owners, createFairShare } from '../throttle/fair-share.ts'
import { type KdfTask, derivedBytes } from './kdf-worker.ts'

/** On whose account a hash is computed: a lane, who in it, and which of their names. */
export type KdfAccount = { lane: 'create' | 'token' | 'password'; owner: string; name?: string }

export type Kdf = {
  /** A new salted hash of the secret, in the text form that verify reads. */
  hash(secret: string, owner: string): Promise<string>
  /** True when the secret gives this hash. Within `inTurn` it begins at once. */
  verify(secret: string, stored: string, account: KdfAccount | 'in turn'): Promise<boolean>
  /** Does the work when it is the account's turn for a thread, or fails with 503. */
  inTurn<T>(account: KdfAccount, work: () => Promise<T>): Promise<T>
  /** A hash of the stored form, as slow as any; no secret for it is known. */
  unknownHash: string
  close(): Promise<void>
}

/** What production takes; no setting changes it. */
export const hashIterations = 600_000
const saltBytes = 16
const idleTimeoutMs = 60_000
// Refusals bring the same callers back at once; whoever waits does not stand in the way of newer requests.
const maxWaitMs = 30_000
// More than the callers of a flood that ask again while one hash is computed; each costs the next caller one hash.
const amongNewest = 4
const busy = 'too many credentials are being verified; try again'
const ownersOf = ({ lane, owner, name = '' }: KdfAccount): Owners => [lane, owner, name]

/** `threads` run at once, and `maxQueue` wait. */
export function createKdf(options: {
  threads: number
  maxQueue: number
  metrics: Metrics
  iterations: number
}): Kdf {
  const { threads, maxQueue, metrics, iterations } = options
  const pool = new Piscina<KdfTask, Uint8Array>({
    filename: new URL('./kdf-worker.ts', import.meta.url).href,
    name: 'derive',
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleTimeoutMs,
    // A tenth of a normal thread's share: requests go first, and on a machine that others keep busy hashes still end.
    niceIncrement: 10,
  })
  const turns = createFairShare({
    capacity: threads,
    maxWaiting: maxQueue,
    maxWaitMs,
    full: busy,
    amongNewest,
  })
  const refuse = (cause: unknown): never => {
    metrics.shed.inc({ point: 'kdf' })
    throw unavailable(busy, cause)
  }
  const inTurn = async <T>(account: KdfAccount, work: () => Promise<T>): Promise<T> => {
    const lease = await turns.take(ownersOf(account)).catch(refuse)
    try {
      return await work()
    } finally {
      lease.release()
    }
  }
  const derive = (task: KdfTask, account: KdfAccount | 'in turn'): Promise<Uint8Array> => {
    const run = (): Promise<Uint8Array> => {
      metrics.authKdfRuns.inc()
      return pool.run(task).catch(refuse)
    }
    return account === 'in turn' ? run() : inTurn(account, run)
  }
  return {
    hash: async (secret, owner) => {
      const salt = randomBytes(saltBytes)
      return format(iterations, salt, await derive({ secret, salt, iterations }, { lane: 'create', owner }))
    },
    verify: async (secret, stored, account) => {
      const wanted = parseHash(stored)
      if (wanted === null) throw new Error('a stored hash is not in the form this release writes')
      const task = { secret, salt: wanted.salt, iterations: wanted.iterations }
      return timingSafeEqual(await derive(task, account), wanted.hash)
    },
    inTurn,
    unknownHash: format(iterations, randomBytes(saltBytes), randomBytes(derivedBytes)),
    close: () => pool.destroy(),
  }
}

const format = (iterations: number, salt: Uint8Array, hash: Uint8Array): string =>
  `$pbkdf2-sha256$i=${iterations}$${base64(salt)}$${base64(hash)}`

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** The parts of a stored hash, or null when it is not in the form this release writes. */
export function parseHash(stored: string): { iterations: number; salt: Buffer; hash: Buffer } | null {
  const [, rounds, salt, hash] = /^\$pbkdf2-sha256\$i=(\d{4,8})\$([\w-]+)\$([\w-]+)$/.exec(stored) ?? []
  const bytes = Buffer.from(hash ?? '', 'base64url')
  if (rounds === undefined || salt === undefined || bytes.length !== derivedBytes) return null
  return { iterations: Number(rounds), salt: Buffer.from(salt, 'base64url'), hash: bytes }
}
