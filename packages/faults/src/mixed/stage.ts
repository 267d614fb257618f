// What a row under the mixed load runs on: engines, replicas behind a balancer, an installation with all features in use.
import { type BaseSetup, type RowOptions, type Say, openBase } from '../base.ts'
import { startBalancer } from '../haproxy.ts'
import { raisedLimits, socketAt } from '../comms-stage.ts'
import { createRecorder } from '../recorder.ts'
import { startSockets } from '../sockets.ts'
import { type Rates, usualRates } from './callers.ts'
import { createClient } from './client.ts'
import { warmUp } from './credentials.ts'
import { type MixedLoad, startMixedLoad } from './load.ts'
import type { MixedScene } from './scene.ts'
import { createMixedWorld } from './world.ts'

export type MixedSetup = BaseSetup & { sockets?: number }
export type MixedStage = MixedScene & {
  /** All features at once for this long. */
  startLoad(seconds: number, rates?: Partial<Rates>): Promise<MixedLoad>
}

const usualSockets = 60
// Limits are for callers who do too much; these few callers stand for many.
const limits = {
  ...raisedLimits,
  SVC_CLI_LOGIN_POLLS_PER_CLIENT: '1000000',
  SVC_CLI_LOGIN_POLLS_PER_LOGIN: '1000000',
}

/** Starts all of it. */
export async function openMixedStage(setup: MixedSetup, options: RowOptions, say: Say): Promise<MixedStage> {
  const opened = setup.sockets ?? usualSockets
  const stage = await openBase({ ...setup, env: { ...limits, ...setup.env } }, options, say, async (base) => {
    say('making an installation')
    const world = await createMixedWorld(base)
    const balancer = base.ends(await startBalancer(base.folder, base.replicas))
    const sockets = base.ends(await startSockets(base.folder))
    const { applicationIds, userIds } = world.comms
    const specs = Array.from({ length: opened }, (_, index) =>
      socketAt(world.comms, {
        url: balancer.url,
        userId: userIds[index % userIds.length] as string,
        applicationId: applicationIds[index % applicationIds.length] as string,
      }),
    )
    if ((await sockets.open(specs)) < opened) throw new Error('not all sockets have a hello')
    for (const { url } of base.replicas) {
      const direct = createClient(url)
      await warmUp(direct, world)
      await direct.end()
    }
    const client = base.ends(createClient(balancer.url))
    const recorder = createRecorder()
    return { balancer, world, client, recorder, sockets, opened, harmed: new Set<string>() }
  })
  const mixed: MixedStage = {
    ...stage,
    startLoad: (seconds, rates = {}) => {
      say(`all features under load for ${seconds} s`)
      return startMixedLoad(mixed, seconds, { ...usualRates, ...rates })
    },
  }
  return mixed
}
