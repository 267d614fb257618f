// Tries Basic passwords. People choose them, so a guess is counted before it is tried, per client and per user name and
// client; an unknown name, a wrong password and a disabled machine user take the same time.
import { hash } from 'node:crypto'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Kdf } from '../../platform/credentials/kdf.ts'
import type { PresentedSecret, Verifier } from '../../platform/credentials/verifier.ts'
import { createSingleFlight } from '../../platform/cache/single-flight.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import { type BasicCredential, readBasicCredentials } from './proxy-auth.store.ts'
import { invalidCredentials, tooManyFailures } from './refusals.pure.ts'

export type BasicProofDeps = {
  database: Pick<Database, 'run'>
  verifier: Verifier
  kdf: Pick<Kdf, 'inTurn'>
  /** Failures per client, over all its credentials. */
  throttle: Throttle
  /** Guesses per user name and client. */
  guesses: Throttle
}
export type WantedName = { key: string; applicationId: string }
type Guess = { secret: PresentedSecret; client: string; pair: string }

/** Tells names apart. */
export const nameKey = ({ key, applicationId }: WantedName): string => `${applicationId} ${key}`

/** Proves a password, or throws 401, 429 or 503. */
export function createBasicProof({ database, verifier, kdf, throttle, guesses }: BasicProofDeps) {
  const once = createSingleFlight<boolean>()
  const find = createCoalesced<WantedName, BasicCredential>({
    keyOf: nameKey,
    run: (wanted) => readBasicCredentials(database.run, wanted),
  })
  const refuseBlocked = async (client: string, pair: string): Promise<void> => {
    if (throttle.knownBlockMs(client) + guesses.knownBlockMs(pair) === 0) return
    const blockedMs = Math.max(await throttle.blockedMs(client), await guesses.blockedMs(pair))
    if (blockedMs > 0) throw tooManyFailures(blockedMs)
  }
  /** Waits for its turn, counts the guess, then tries it: a guess that will not be tried is not counted. */
  const tryPassword = (row: BasicCredential | null, { secret, client, pair }: Guess): Promise<boolean> =>
    // Turns are by project, whether or not the name exists: names and addresses are easy to come by.
    kdf.inTurn({ lane: 'password', owner: row?.project_id ?? 'none' }, async () => {
      const blocks = await Promise.all([throttle.fail(client), guesses.fail(pair)])
      if (Math.max(...blocks) > 0) throw tooManyFailures(Math.max(...blocks))
      const stored = row?.enabled === true ? row.password_hash : null
      if (stored === null) return verifier.pretend(secret, 'in turn')
      return verifier.verify(secret, stored, 'in turn')
    })
  return {
    refuseBlocked,

    /** The hash the password was proved with. Concurrent requests with the same password share the guess. */
    prove: async (wanted: WantedName, secret: PresentedSecret, client: string): Promise<string> => {
      const row = await find(wanted)
      const pair = pairOf(wanted.key, client, row?.project_id)
      await refuseBlocked(client, pair)
      // With the hash: what is found out about another one says nothing about this.
      const flight = `${client} ${secret.fingerprint} ${row?.password_hash}`
      const isRight = await once(flight, () => tryPassword(row, { secret, client, pair }))
      if (!isRight) throw invalidCredentials()
      // What was counted for the guess, and a block that began with it.
      guesses.succeed(pair)
      throttle.succeed(client)
      return row?.password_hash ?? ''
    },
  }
}

/**
 * Variants of a name in case and outer spaces are one name to a guesser, so they share a counter; the same name in
 * another project is another machine user.
 */
export const pairOf = (username: string, client: string, projectId = 'none'): string =>
  hash('sha256', [normalized(username), client, projectId].join('\0'), 'base64url')

const normalized = (username: string): string => username.trim().toLowerCase()
