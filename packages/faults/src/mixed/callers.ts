// Sends calls to all features and records the outcomes.
import { createCommsCalls, emitUntilAccepted, planEmit } from '../comms-calls.ts'
import type { Emit } from '../comms-checkers.ts'
import { createCredentialLoad } from './credentials.ts'
import {
  type AnsweredCall,
  type Login,
  type Uploaded,
  callPartner,
  logIn,
  uploadVersion,
} from './exchanges.ts'
import type { MixedScene } from './scene.ts'
import { createRenamer, createTenant } from './writes.ts'

/** Operations per second. */
export type Rates = {
  creates: number
  renames: number
  uses: number
  invalidations: number
  strangers: number
  calls: number
  emits: number
  publishes: number
  uploads: number
  logins: number
  firings: number
}
export const usualRates: Rates = {
  creates: 6,
  renames: 6,
  uses: 30,
  invalidations: 1.5,
  strangers: 3,
  calls: 15,
  emits: 8,
  publishes: 4,
  uploads: 0.5,
  // Each login creates a token. Hashing the token occupies a core for most of a second.
  logins: 0.2,
  firings: 8,
}
type Results = { answered: AnsweredCall[]; uploaded: Uploaded[]; logins: Login[]; emits: Emit[] }

/** Creates callers that use the load balancer of this scene. */
export function createCallers(stage: MixedScene) {
  const { world, balancer, client, recorder, random } = stage
  const { url } = balancer
  const caller = { client, recorder, world, url }
  const commsCalls = stage.registerPart(createCommsCalls(world.comms))
  const credentials = createCredentialLoad(caller)
  const renamer = createRenamer(caller)
  const results: Results = { answered: [], uploaded: [], logins: [], emits: [] }
  const emit = async (): Promise<void> => {
    const one = planEmit(world.comms, random, 2)
    results.emits.push(one)
    await emitUntilAccepted(commsCalls, () => url, one)
    for (const attempt of one.attempts) recorder.recordCompleted({ op: 'emit', key: one.key, ...attempt })
  }
  const publish = async (): Promise<void> => {
    const applicationId = world.comms.applicationIds[0] as string
    const key = `live ${Date.now()}`
    await recorder.record('publish', key, async () => {
      return (await commsCalls.publish(() => url, { key, applicationId })).status
    })
  }
  const acts: Record<Exclude<keyof Rates, 'firings'>, () => Promise<void>> = {
    creates: () => createTenant(caller),
    renames: () => renamer.rename(),
    uses: () => credentials.use(),
    invalidations: () => credentials.invalidate(),
    strangers: () => credentials.tryStranger(),
    calls: () => callPartner(caller, results.answered),
    emits: emit,
    publishes: publish,
    uploads: () => uploadVersion(caller, results.uploaded),
    logins: () => logIn(caller, results.logins),
  }
  return { acts, caller, commsCalls, credentials, renames: renamer.renames, results }
}
export type Callers = ReturnType<typeof createCallers>
