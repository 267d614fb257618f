// The slow hash for secrets that people choose, or that must be hard to guess even with a stolen database:
// PBKDF2-SHA256 with 600,000 iterations, about 0.15 s of CPU time. It runs in low-priority worker threads. Secret
// creation, token verification and password verification take turns, and so do the projects. A caller that floods the
// queue waits a long time and is rejected, while other callers hardly wait longer.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Piscina } from 'piscina'
import { unavailable } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { createFairShare } from '../throttle/fair-share.ts'
import { type KdfTask, derivedBytes } from './kdf-worker.ts'

/** The account that a hash is charged to: a lane, and an owner within the lane. */
export type KdfAccount = { lane: 'create' | 'token' | 'password'; owner: string }

/** Computes and verifies slow hashes. */
export type Kdf = {
  /** Returns a new salted hash of the secret, in the text form that `verify` reads. */
  hash(secret: string, owner: string): Promise<string>
  /** Whether the secret matches the hash. Within `runInTurn`, pass 'inTurn' to start immediately. */
  verify(secret: string, storedHash: string, account: KdfAccount | 'inTurn'): Promise<boolean>
  /** Runs the work when it is the account's turn for a thread, or throws 503. */
  runInTurn<T>(account: KdfAccount, work: () => Promise<T>): Promise<T>
  /** A valid hash of an unknown secret. Verifying it takes as long as verifying any other hash. */
  unknownHash: string
  close(): Promise<void>
}

/** Number of iterations in production; no setting changes it. */
export const hashIterations = 600_000
const saltBytes = 16
const idleTimeoutMs = 60_000
// The wait is long because rejected callers retry immediately, while waiting callers do not block newer requests.
const maxWaitMs = 30_000
// During a flood, callers that retry after each response add one or two requests per hash. A larger window would cover
// more of these requests, but each of them makes the wait longer by one hash.
const newestWindow = 4
const busyMessage = 'too many credentials are being verified; try again'

/** Creates the hash pool: `threads` hashes run concurrently, and `maxQueue` wait. */
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
    // Threads get a tenth of the normal CPU share: requests run first, and hashes still complete on a busy machine.
    niceIncrement: 10,
  })
  const threadShare = createFairShare({
    capacity: threads,
    maxWaiting: maxQueue,
    maxWaitMs,
    overloadMessage: busyMessage,
    newestWindow,
  })
  const rejectBusy = (cause: unknown): never => {
    metrics.shed.inc({ point: 'kdf' })
    throw unavailable(busyMessage, cause)
  }
  const runInTurn = async <T>(account: KdfAccount, work: () => Promise<T>): Promise<T> => {
    const lease = await threadShare.take([account.lane, account.owner]).catch(rejectBusy)
    try {
      return await work()
    } finally {
      lease.release()
    }
  }
  const derive = (task: KdfTask, account: KdfAccount | 'inTurn'): Promise<Uint8Array> => {
    const runDerivation = (): Promise<Uint8Array> => {
      metrics.authKdfRuns.inc()
      return pool.run(task).catch(rejectBusy)
    }
    return account === 'inTurn' ? runDerivation() : runInTurn(account, runDerivation)
  }
  return {
    hash: async (secret, owner) => {
      const salt = randomBytes(saltBytes)
      const hash = await derive({ secret, salt, iterations }, { lane: 'create', owner })
      return formatHash(iterations, salt, hash)
    },
    verify: async (secret, stored, account) => {
      const parsedHash = parseHash(stored)
      if (parsedHash === null) throw new Error('a stored hash has an unsupported format')
      const task = { secret, salt: parsedHash.salt, iterations: parsedHash.iterations }
      return timingSafeEqual(await derive(task, account), parsedHash.hash)
    },
    runInTurn,
    unknownHash: formatHash(iterations, randomBytes(saltBytes), randomBytes(derivedBytes)),
    close: () => pool.destroy(),
  }
}

const formatHash = (iterations: number, salt: Uint8Array, hash: Uint8Array): string =>
  `$pbkdf2-sha256$i=${iterations}$${toBase64(salt)}$${toBase64(hash)}`

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

/** Parses a stored hash; returns null if it is not in the format that this release writes. */
export function parseHash(stored: string): { iterations: number; salt: Buffer; hash: Buffer } | null {
  const [, iterationText, salt, hash] =
    /^\$pbkdf2-sha256\$i=(\d{4,8})\$([\w-]+)\$([\w-]+)$/.exec(stored) ?? []
  const bytes = Buffer.from(hash ?? '', 'base64url')
  if (iterationText === undefined || salt === undefined || bytes.length !== derivedBytes) return null
  return { iterations: Number(iterationText), salt: Buffer.from(salt, 'base64url'), hash: bytes }
}
