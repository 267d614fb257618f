// Verifies Basic passwords. People choose these passwords, so a guess is counted before it is verified: once per
// client, and once per pair of user name and client. An unknown name, a wrong password and a disabled machine user take
// the same time.
import { hash } from 'node:crypto'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Kdf } from '../../platform/credentials/kdf.ts'
import type { PresentedSecret, Verifier } from '../../platform/credentials/verifier.ts'
import { createSingleFlight } from '../../platform/cache/single-flight.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import { type BasicCredential, readBasicCredentials } from './proxy-auth.store.ts'
import { createInvalidCredentialsError, createTooManyFailuresError } from './errors.pure.ts'

export type BasicVerifierDeps = {
  database: Pick<Database, 'run'>
  verifier: Verifier
  kdf: Pick<Kdf, 'runInTurn'>
  /** Failures per client across all credentials. */
  throttle: Throttle
  /** Guesses per user name and client. */
  guesses: Throttle
}
export type CredentialLookup = { key: string; applicationId: string }
type Guess = { secret: PresentedSecret; client: string; pair: string }

export const createNameKey = ({ key, applicationId }: CredentialLookup): string => `${applicationId} ${key}`

/** Verifies a password. Throws 401, 429 or 503. */
export function createBasicVerifier({ database, verifier, kdf, throttle, guesses }: BasicVerifierDeps) {
  const runOnce = createSingleFlight<boolean>()
  const findCredential = createCoalescer<CredentialLookup, BasicCredential>({
    getKey: createNameKey,
    run: (lookups) => readBasicCredentials(database.run, lookups),
  })
  const refuseBlocked = async (client: string, pair: string): Promise<void> => {
    if (throttle.getKnownBlockMs(client) + guesses.getKnownBlockMs(pair) === 0) return
    const blockedMs = Math.max(await throttle.getBlockedMs(client), await guesses.getBlockedMs(pair))
    if (blockedMs > 0) throw createTooManyFailuresError(blockedMs)
  }
  /** Waits for a KDF slot, counts the guess, then verifies it. A guess that is never verified is not counted. */
  const verifyGuess = (row: BasicCredential | null, { secret, client, pair }: Guess): Promise<boolean> =>
    // Slots are divided between projects, and all unknown names share one owner: an attacker can easily obtain many
    // names and addresses.
    kdf.runInTurn({ lane: 'password', owner: row?.project_id ?? 'none' }, async () => {
      const blocks = await Promise.all([throttle.fail(client), guesses.fail(pair)])
      if (Math.max(...blocks) > 0) throw createTooManyFailuresError(Math.max(...blocks))
      const storedHash = row?.enabled === true ? row.password_hash : null
      if (storedHash === null) return verifier.verifyUnknown(secret, 'inTurn')
      return verifier.verify(secret, storedHash, 'inTurn')
    })
  return {
    refuseBlocked,

    /** Returns the hash that matched. Concurrent requests with the same password share one guess. */
    verifyPassword: async (
      lookup: CredentialLookup,
      secret: PresentedSecret,
      client: string,
    ): Promise<string> => {
      const row = await findCredential(lookup)
      const pair = createCounterKey(lookup.key, client, row?.project_id)
      await refuseBlocked(client, pair)
      // The key includes the hash, because a result for a different hash does not apply.
      const flightKey = `${client} ${secret.fingerprint} ${row?.password_hash}`
      const isCorrect = await runOnce(flightKey, () => verifyGuess(row, { secret, client, pair }))
      if (!isCorrect) throw createInvalidCredentialsError()
      // Undoes the count of this guess and a block that it triggered.
      guesses.succeed(pair)
      throttle.succeed(client)
      return row?.password_hash ?? ''
    },
  }
}

/**
 * Returns the counter key of a user name and client. Names that differ only in case or outer spaces share a
 * counter. The same name in a different project is a different machine user with its own counter.
 */
export const createCounterKey = (username: string, client: string, projectId = 'none'): string =>
  hash('sha256', [normalizeUsername(username), client, projectId].join('\0'), 'base64url')

const normalizeUsername = (username: string): string => username.trim().toLowerCase()
