// What the load finds on a stage.
import type { Base } from '../base.ts'
import type { Balancer } from '../haproxy.ts'
import type { Recorder } from '../recorder.ts'
import type { Sockets } from '../sockets.ts'
import type { Client } from './client.ts'
import type { MixedWorld } from './world.ts'

export type MixedScene = Base & {
  balancer: Balancer
  world: MixedWorld
  client: Client
  recorder: Recorder
  sockets: Sockets
  /** How many sockets there are. */
  opened: number
  /** Names of replicas that the row ends by itself. */
  harmed: Set<string>
}
