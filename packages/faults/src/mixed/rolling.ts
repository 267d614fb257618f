// Replaces replicas one by one, as an operator does after a change to the settings.
import type { MixedStage } from './stage.ts'

/** Shutdown time and exit code of a replica. */
export type Drained = { replica: string; seconds: number; exit: number | string }

/** Settings of replicas that will be replaced. The load balancer detects a draining replica within this delay. */
export const drainEnv = { SVC_SHUTDOWN_DRAIN_DELAY_MS: '2000' }

/** Replaces all running replicas. Each replica drains only after its successor is ready. */
export async function replaceReplicas(stage: MixedStage, env: Record<string, string>): Promise<Drained[]> {
  const drained: Drained[] = []
  for (const replica of stage.replicas.filter((one) => one.isAlive())) {
    const successor = await stage.startReplica(env)
    await stage.balancer.add(successor)
    stage.log(`replacing ${replica.name} with ${successor.name}`)
    stage.expectedExits.add(replica.name)
    const start = Date.now()
    replica.signal('SIGTERM')
    const exit = await replica.exit
    drained.push({ replica: replica.name, seconds: (Date.now() - start) / 1_000, exit })
    await stage.balancer.remove(replica)
  }
  return drained
}

/** Returns the replicas whose exit code was not 0. */
export const badExits = (drained: readonly Drained[]): string[] =>
  drained.filter(({ exit }) => exit !== 0).map(({ replica, exit }) => `${replica}: ${exit}`)
