// All features under load at once. What comes and goes by itself (sockets, triggers) is planned before; everything else is
// called at an even pace through the balancer.
import { pause } from '../children.ts'
import { createCommsCalls, emitUntilAccepted, keepDoing, planEmit } from '../comms-calls.ts'
import type { Emit } from '../comms-checkers.ts'
import { planTriggers, yearly } from '../world.ts'
import { createCredentialLoad } from './credentials.ts'
import {
  type AnsweredCall,
  type Login,
  type Uploaded,
  callPartner,
  logIn,
  uploadVersion,
} from './exchanges.ts'
import type { MixedHistory } from './history.ts'
import { readHistory } from './settled.ts'
import type { MixedStage } from './stage.ts'
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
export type MixedLoad = {
  startedAt: number
  /** Resolves when this many milliseconds of the load have passed. */
  at(ms: number): Promise<void>
  /** Ends it after its time; calls may still be open. */
  end(): Promise<void>
  /** To be called when everything is healed: waits until all that is open has ended, and reads what there is. */
  settle(): Promise<MixedHistory>
}
type Kept = { answered: AnsweredCall[]; uploaded: Uploaded[]; logins: Login[]; emits: Emit[] }

// Firings begin a little later, so that their rows are there when they are due.
const firstFiringMs = 2_000

// Replicas that never had a request compile their code first. A row is about what it breaks, not about that.
const warmUp = { share: 0.25, ms: 8_000 }

/** What the callers of the load keep of what happened. */
function createCallers(stage: MixedStage) {
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

/** Starts it for this long, after a little of it. */
export async function startMixedLoad(stage: MixedStage, seconds: number, rates: Rates): Promise<MixedLoad> {
  const callers = createCallers(stage)
  const begin = (share: number) =>
    (Object.keys(callers.acts) as (keyof Callers['acts'])[]).map((kind) =>
      keepDoing(share * rates[kind], callers.acts[kind]),
    )
  const endings = begin(warmUp.share)
  await pause(warmUp.ms)
  await Promise.all(endings.map((end) => end()))
  const planned = await planTriggers(stage.cluster.sql, stage.world.triggers, {
    count: Math.round(seconds * rates.firings),
    expression: yearly,
    dueAt: Date.now() + firstFiringMs,
    spreadMs: seconds * 1_000 - firstFiringMs,
  })
  const startedAt = Date.now()
  const ends = begin(1)
  let open: Promise<unknown> = Promise.resolve()
  const at = (ms: number): Promise<void> => pause(Math.max(0, startedAt + ms - Date.now()))
  return {
    startedAt,
    at,
    end: async () => {
      await at(seconds * 1_000)
      open = Promise.all(ends.map((end) => end()))
      // Who waits for it gets the failure.
      open.catch(() => undefined)
    },
    settle: async () => {
      const since = Date.now()
      stage.say('waiting until everything has ended')
      await open
      return readHistory(stage, callers, { planned, since })
    },
  }
}
