// The slow hash of secrets that people choose or that must not be guessed from a stolen database: PBKDF2-SHA256 with
// 600,000 iterations, about 0.15 s of a core. It runs in worker threads of low priority with a short queue, so that
// whoever floods it is turned away and nobody else notices.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Piscina } from 'piscina'
import { unavailable } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { type KdfTask, derivedBytes } from './kdf-worker.ts'

export type Kdf = {
  /** A new salted hash of the secret, in the text form that verify reads. */
  hash(secret: string): Promise<string>
  /** True when the secret gives this hash. */
  verify(secret: string, stored: string): Promise<boolean>
  /** False while the queue is full; hash and verify then fail with 503. */
  hasRoom(): boolean
  close(): Promise<void>
}

const iterations = 600_000
const saltBytes = 16
const idleTimeoutMs = 60_000

/** `threads` run at once, `maxQueue` wait. */
export function createKdf(options: { threads: number; maxQueue: number; metrics: Metrics }): Kdf {
  const pool = new Piscina<KdfTask, Uint8Array>({
    filename: new URL('./kdf-worker.ts', import.meta.url).href,
    name: 'derive',
    minThreads: 0,
    maxThreads: options.threads,
    maxQueue: options.maxQueue,
    idleTimeout: idleTimeoutMs,
    niceIncrement: 10,
  })
  const capacity = options.threads + options.maxQueue
  let pending = 0
  const derive = async (task: KdfTask): Promise<Uint8Array> => {
    if (pending >= capacity) throw unavailable('too many credentials are being verified; try again')
    pending++
    options.metrics.authKdfRuns.inc()
    try {
      return await pool.run(task)
    } finally {
      pending--
    }
  }
  return {
    hash: async (secret) => {
      const salt = randomBytes(saltBytes)
      return format(iterations, salt, await derive({ secret, salt, iterations }))
    },
    verify: async (secret, stored) => {
      const wanted = parse(stored)
      const derived = await derive({ secret, salt: wanted.salt, iterations: wanted.iterations })
      return timingSafeEqual(derived, wanted.hash)
    },
    hasRoom: () => pending < capacity,
    close: () => pool.destroy(),
  }
}

const format = (rounds: number, salt: Uint8Array, hash: Uint8Array): string =>
  `$pbkdf2-sha256$i=${rounds}$${base64(salt)}$${base64(hash)}`

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

function parse(stored: string): { iterations: number; salt: Buffer; hash: Buffer } {
  const [, rounds, salt, hash] = /^\$pbkdf2-sha256\$i=(\d{4,8})\$([\w-]+)\$([\w-]+)$/.exec(stored) ?? []
  const bytes = Buffer.from(hash ?? '', 'base64url')
  if (rounds === undefined || salt === undefined || bytes.length !== derivedBytes)
    throw new Error('a stored hash is not in the form this release writes')
  return { iterations: Number(rounds), salt: Buffer.from(salt, 'base64url'), hash: bytes }
}
