// Replicas are replaced one by one, as an operator does after a change of settings.
import type { MixedStage } from './stage.ts'

/** How long each took to end, and with which code. */
export type Drained = { replica: string; seconds: number; exit: number | string }

/** For who is replaced so: a balancer notices within this time that a replica drains. */
export const drainEnv = { SVC_SHUTDOWN_DRAIN_DELAY_MS: '2000' }

/** Replaces all that live: the successor is ready first, then the former drains. */
export async function replaceReplicas(stage: MixedStage, env: Record<string, string>): Promise<Drained[]> {
  const drained: Drained[] = []
  for (const replica of stage.replicas.filter((one) => one.isAlive())) {
    const successor = await stage.startReplica(env)
    await stage.balancer.add(successor)
    stage.say(`${successor.name} takes the place of ${replica.name}`)
    stage.harmed.add(replica.name)
    const start = Date.now()
    replica.signal('SIGTERM')
    const exit = await replica.exit
    drained.push({ replica: replica.name, seconds: (Date.now() - start) / 1_000, exit })
    await stage.balancer.remove(replica)
  }
  return drained
}

/** Those that did not end by themselves. */
export const badExits = (drained: readonly Drained[]): string[] =>
  drained.filter(({ exit }) => exit !== 0).map(({ replica, exit }) => `${replica}: ${exit}`)
