// Those who call all features, and what they keep of what happened.
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

/** How many of each there are per second. */
export type Rates = {
  creates: number
  renames: number
  uses: number
  endings: number
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
  endings: 1.5,
  strangers: 3,
  calls: 15,
  emits: 8,
  publishes: 4,
  uploads: 0.5,
  // Each makes a token, whose hash takes a good part of a second of a core.
  logins: 0.2,
  firings: 8,
}
type Kept = { answered: AnsweredCall[]; uploaded: Uploaded[]; logins: Login[]; emits: Emit[] }

/** Callers at the balancer of this scene. */
export function createCallers(stage: MixedScene) {
  const { world, balancer, client, recorder, random } = stage
  const { url } = balancer
  const caller = { client, recorder, world, url }
  const commsCalls = stage.ends(createCommsCalls(world.comms))
  const credentials = createCredentialLoad(caller)
  const renamer = createRenamer(caller)
  const kept: Kept = { answered: [], uploaded: [], logins: [], emits: [] }
  const emit = async (): Promise<void> => {
    const one = planEmit(world.comms, random, 2)
    kept.emits.push(one)
    await emitUntilAccepted(commsCalls, () => url, one)
    for (const attempt of one.attempts) recorder.note({ op: 'emit', key: one.key, ...attempt })
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
    endings: () => credentials.end(),
    strangers: () => credentials.tryStranger(),
    calls: () => callPartner(caller, kept.answered),
    emits: emit,
    publishes: publish,
    uploads: () => uploadVersion(caller, kept.uploaded),
    logins: () => logIn(caller, kept.logins),
  }
  return { acts, caller, commsCalls, credentials, renames: renamer.renames, kept }
}
export type Callers = ReturnType<typeof createCallers>
