// All features under load at once. What comes and goes by itself (sockets, triggers) is planned before; everything else is
// called at an even pace through the balancer.
import { pause } from '../children.ts'
import { keepDoing } from '../pace.ts'
import { planTriggers, yearly } from '../world.ts'
import { type Callers, type Rates, createCallers } from './callers.ts'
import type { MixedHistory } from './history.ts'
import type { MixedScene } from './scene.ts'
import { readHistory } from './settled.ts'

export type MixedLoad = {
  startedAt: number
  /** Resolves when this many milliseconds of the load have passed. */
  at(ms: number): Promise<void>
  /** Ends it after its time; calls may still be open. */
  end(): Promise<void>
  /** To be called when everything is healed: waits until all that is open has ended, and reads what there is. */
  settle(): Promise<MixedHistory>
}
// Firings begin a little later, so that their rows are there when they are due.
const firstFiringMs = 2_000

// Replicas that never had a request compile their code first. A row is about what it breaks, not about that.
const warmUp = { share: 0.25, ms: 8_000 }

/** Starts it for this long, after a little of it. */
export async function startMixedLoad(stage: MixedScene, seconds: number, rates: Rates): Promise<MixedLoad> {
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
