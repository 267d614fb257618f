// Basic credentials of machine users. A password that was proved is cached per client, so that a guesser does not
// pass because it is known elsewhere; it is good only for the hash it was proved with, which is read at every request.
import { createLru } from '../../platform/cache/lru.ts'
import { createAccessRead } from './access-reads.service.ts'
import { type BasicProofDeps, createBasicProof, nameKey, pairOf } from './basic-proof.service.ts'
import { type MachineAccess, byMachineName } from './proxy-auth.store.ts'
import { invalidCredentials } from './refusals.pure.ts'

export type BasicLogin = ReturnType<typeof createBasicLogin>

const maxProven = 50_000

/** Returns a function that returns the machine user behind a user name and password; throws 401, 429 and 503. */
export function createBasicLogin(deps: BasicProofDeps) {
  const { database, verifier, guesses } = deps
  const { prove, refuseBlocked } = createBasicProof(deps)
  const proven = createLru<string>({ max: maxProven })
  const find = createAccessRead<MachineAccess>(database, byMachineName, [])
  return async (
    login: { username: string; password: string },
    applicationId: string,
    client: string,
  ): Promise<MachineAccess> => {
    const wanted = { key: login.username, applicationId }
    const secret = verifier.present(login.password, nameKey(wanted))
    const key = `${client} ${secret.fingerprint}`
    // When the hash has changed since, the password is proved again, once.
    for (let tries = 0; tries < 2; tries++) {
      if (!proven.has(key)) proven.set(key, await prove(wanted, secret, client))
      const machine = await find(wanted)
      const pair = pairOf(login.username, client, machine?.project_id)
      await refuseBlocked(client, pair)
      if (machine?.enabled === true && proven.get(key) === machine.password_hash) {
        guesses.succeed(pair)
        return machine
      }
      proven.delete(key)
    }
    throw invalidCredentials()
  }
}
