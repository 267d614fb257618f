// Puts load on all features concurrently. Sockets and triggers are set up in advance. All other calls are sent at
// a constant rate through the load balancer.
import { pause } from '../children.ts'
import { runAtPace } from '../pace.ts'
import { planTriggers, yearly } from '../world.ts'
import { type Callers, type Rates, createCallers } from './callers.ts'
import type { MixedHistory } from './history.ts'
import type { MixedScene } from './scene.ts'
import { readHistory } from './settled.ts'

export type MixedLoad = {
  startedAt: number
  /** Resolves when the load has run for this many milliseconds. */
  at(ms: number): Promise<void>
  /** Waits until the duration of the load is over, then stops sending calls. Calls in flight may still be open. */
  end(): Promise<void>
  /** Waits until all open work has completed and reads the history. Call it after every fault is healed. */
  settle(): Promise<MixedHistory>
}
// The delay until the first triggers are due. All triggers must be inserted before that time.
const firstFiringMs = 2_000

// Replicas compile their code on the first requests. The warm-up keeps this work out of the measurement.
const warmUp = { share: 0.25, ms: 8_000 }

/** Warms up, then starts the load for `seconds`. */
export async function startMixedLoad(stage: MixedScene, seconds: number, rates: Rates): Promise<MixedLoad> {
  const callers = createCallers(stage)
  const start = (share: number) =>
    (Object.keys(callers.acts) as (keyof Callers['acts'])[]).map((kind) =>
      runAtPace(share * rates[kind], callers.acts[kind]),
    )
  const warmUpStops = start(warmUp.share)
  await pause(warmUp.ms)
  await Promise.all(warmUpStops.map((stop) => stop()))
  const planned = await planTriggers(stage.cluster.sql, stage.world.triggers, {
    count: Math.round(seconds * rates.firings),
    expression: yearly,
    dueAt: Date.now() + firstFiringMs,
    spreadMs: seconds * 1_000 - firstFiringMs,
  })
  const startedAt = Date.now()
  const stops = start(1)
  let open: Promise<unknown> = Promise.resolve()
  const at = (ms: number): Promise<void> => pause(Math.max(0, startedAt + ms - Date.now()))
  return {
    startedAt,
    at,
    end: async () => {
      await at(seconds * 1_000)
      open = Promise.all(stops.map((stop) => stop()))
      // Ignore the failure here, because `settle` reports it.
      open.catch(() => undefined)
    },
    settle: async () => {
      const since = Date.now()
      stage.log('waiting for open calls to complete')
      await open
      return readHistory(stage, callers, { planned, since })
    },
  }
}
