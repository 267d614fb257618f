// Defines the subset of a stage that the load generator uses.
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
  /** Number of sockets. */
  opened: number
  /** Names of replicas that the scenario stops on purpose. */
  expectedExits: Set<string>
}
