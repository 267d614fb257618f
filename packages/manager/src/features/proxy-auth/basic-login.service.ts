// This service authenticates machine users with Basic credentials. A verified password is cached per client, so that an
// attacker who guesses passwords does not benefit from the cache of another client. The entry is valid only for the
// hash that it matched, which is read on every request.
import { createLru } from '../../platform/cache/lru.ts'
import { createAccessReader } from './access-reads.service.ts'
import {
  type BasicVerifierDeps,
  createBasicVerifier,
  createNameKey,
  createCounterKey,
} from './basic-verifier.service.ts'
import { type MachineAccess, machineNameStatements } from './proxy-auth.store.ts'
import { createInvalidCredentialsError } from './errors.pure.ts'

export type BasicLogin = ReturnType<typeof createBasicLogin>

const maxVerifiedHashes = 50_000

/** Returns a function that returns the machine user for a user name and password. It throws 401, 429 or 503. */
export function createBasicLogin(deps: BasicVerifierDeps) {
  const { database, verifier, guesses } = deps
  const { verifyPassword, refuseBlocked } = createBasicVerifier(deps)
  const verifiedHashes = createLru<string>({ max: maxVerifiedHashes })
  const findMachine = createAccessReader<MachineAccess>(database, machineNameStatements, [])
  return async (
    login: { username: string; password: string },
    applicationId: string,
    client: string,
  ): Promise<MachineAccess> => {
    const lookup = { key: login.username, applicationId }
    const secret = verifier.present(login.password, createNameKey(lookup))
    const key = `${client} ${secret.fingerprint}`
    // If the hash has changed, the password is verified once more.
    for (let attempt = 0; attempt < 2; attempt++) {
      if (!verifiedHashes.has(key)) verifiedHashes.set(key, await verifyPassword(lookup, secret, client))
      const machine = await findMachine(lookup)
      const pair = createCounterKey(login.username, client, machine?.project_id)
      await refuseBlocked(client, pair)
      if (machine?.enabled === true && verifiedHashes.get(key) === machine.password_hash) {
        guesses.succeed(pair)
        return machine
      }
      verifiedHashes.delete(key)
    }
    throw createInvalidCredentialsError()
  }
}
