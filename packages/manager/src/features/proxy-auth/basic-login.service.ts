// Basic credentials of machine users. People choose passwords, so guesses are counted before they are tried, per user
// name and client; a password that fits is remembered per client, so that knowing one that works elsewhere does not let
// a guesser pass. An unknown name, a wrong password and a disabled machine user take the same time.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createBatchedRead } from '../../platform/db/batched-read.ts'
import type { Database } from '../../platform/db/database.ts'
import type { Kdf } from '../../platform/credentials/kdf.ts'
import type { PresentedSecret, Verifier } from '../../platform/credentials/verifier.ts'
import { unavailable } from '../../platform/errors.ts'
import type { Throttle } from '../../platform/throttle.ts'
import { type MachineAccess, readByMachineName } from './proxy-auth.store.ts'
import { tooManyFailures } from './refusals.ts'

export type BasicLoginDeps = {
  database: Pick<Database, 'read'>
  verifier: Verifier
  kdf: Pick<Kdf, 'hasRoom'>
  /** Failures per client, over all its credentials. */
  throttle: Throttle
  /** Guesses per user name and client. */
  guesses: Throttle
}
export type BasicLogin = ReturnType<typeof createBasicLogin>
type Login = { username: string; password: string }

const maxProven = 50_000

/** A function that answers the machine user behind a user name and password, or null; throws 429 and 503. */
export function createBasicLogin({ database, verifier, kdf, throttle, guesses }: BasicLoginDeps) {
  const proven = new LRUCache<string, string>({ max: maxProven })
  const find = createBatchedRead<{ key: string; applicationId: string }, MachineAccess>({
    keyOf: ({ key, applicationId }) => `${applicationId} ${key}`,
    read: (wanted) => readByMachineName(database.read, wanted),
  })

  const countGuess = async (client: string, pair: string): Promise<void> => {
    // Without room nothing will be tried, so nothing is counted against the caller.
    if (!kdf.hasRoom()) throw unavailable('too many credentials are being verified; try again')
    const blocks = await Promise.all([throttle.blockedMs(client), guesses.fail(pair)])
    if (Math.max(...blocks) > 0) throw tooManyFailures(Math.max(...blocks))
  }
  const fits = (row: MachineAccess | null, secret: PresentedSecret): Promise<boolean> =>
    row?.enabled === true && row.password_hash !== null
      ? verifier.verify(secret, row.password_hash)
      : verifier.pretend(secret)

  return async (login: Login, applicationId: string, client: string): Promise<MachineAccess | null> => {
    const pair = pairOf(login.username, client)
    const known = Math.max(throttle.knownBlockMs(client), guesses.knownBlockMs(pair))
    if (known > 0) throw tooManyFailures(known)
    const secret = verifier.present(login.password, `${applicationId} ${login.username}`)
    const row = await find({ key: login.username, applicationId })
    const memory = `${client} ${secret.print}`
    const isProven = row?.enabled === true && proven.get(memory) === row.password_hash
    if (!isProven) {
      await countGuess(client, pair)
      if (!(await fits(row, secret))) return null
      proven.set(memory, row?.password_hash ?? '')
    }
    guesses.succeed(pair)
    return row
  }
}

/** Variants of a name in case and outer spaces are one name to a guesser, so they share a counter. */
const pairOf = (username: string, client: string): string =>
  hash('sha256', `${username.trim().toLowerCase()}\0${client}`, 'base64url')
