// Sets up a scenario under the mixed load: PostgreSQL, Redis, replicas behind a load balancer, and an
// installation that uses all features.
import { type BaseSetup, type RowOptions, type Log, openBase } from '../base.ts'
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
  /** Starts the load on all features for `seconds`. */
  startLoad(seconds: number, rates?: Partial<Rates>): Promise<MixedLoad>
}

const usualSockets = 60
// Each of the few callers represents many, so per-caller limits are raised.
const limits = {
  ...raisedLimits,
  SVC_CLI_LOGIN_POLLS_PER_CLIENT: '1000000',
  SVC_CLI_LOGIN_POLLS_PER_LOGIN: '1000000',
}

export async function openMixedStage(setup: MixedSetup, options: RowOptions, log: Log): Promise<MixedStage> {
  const opened = setup.sockets ?? usualSockets
  const stage = await openBase({ ...setup, env: { ...limits, ...setup.env } }, options, log, async (base) => {
    log('creating an installation')
    const world = await createMixedWorld(base)
    const balancer = base.registerPart(await startBalancer(base.folder, base.replicas))
    const sockets = base.registerPart(await startSockets(base.folder))
    const { applicationIds, userIds } = world.comms
    const specs = Array.from({ length: opened }, (_, index) =>
      socketAt(world.comms, {
        url: balancer.url,
        userId: userIds[index % userIds.length] as string,
        applicationId: applicationIds[index % applicationIds.length] as string,
      }),
    )
    if ((await sockets.open(specs)) < opened) throw new Error('not all sockets received a hello')
    for (const { url } of base.replicas) {
      const direct = createClient(url)
      await warmUp(direct, world)
      await direct.end()
    }
    const client = base.registerPart(createClient(balancer.url))
    const recorder = createRecorder()
    return { balancer, world, client, recorder, sockets, opened, expectedExits: new Set<string>() }
  })
  const mixed: MixedStage = {
    ...stage,
    startLoad: (seconds, rates = {}) => {
      log(`loading all features for ${seconds} s`)
      return startMixedLoad(mixed, seconds, { ...usualRates, ...rates })
    },
  }
  return mixed
}
