// The balancer in front of the replicas, as the harness sees it (balancer-server.ts runs it).
import { type Child, endChild, startChild, until } from './children.ts'
import { createControl } from './control.ts'
import type { Replica } from './replicas.ts'
import { freePort } from '../test/engines/postgres.ts'

export type Target = Pick<Replica, 'url' | 'readyUrl'>
export type BalancerStats = {
  requests: number
  /** How often nobody was ready, and somebody waited a moment for that. */
  waited: number
  /** Connections that were refused, and tried at another replica. */
  retried: number
  /** Requests that got no answer of a replica, and why. */
  failed: string[]
}
export type Balancer = {
  url: string
  setTargets(targets: readonly Target[]): Promise<void>
  /** How many replicas get requests at the moment. */
  ready(): Promise<number>
  stats(): Promise<BalancerStats>
  end(): Promise<void>
}

const program = new URL('balancer-server.ts', import.meta.url).pathname

/** Starts it and waits until it sees all of them ready. */
export async function startBalancer(folder: string, targets: readonly Target[]): Promise<Balancer> {
  const [port, controlPort] = [await freePort(), await freePort()]
  const child: Child = startChild({
    args: [program, String(port), String(controlPort)],
    env: {},
    logFile: `${folder}/balancer.log`,
  })
  const control = createControl(controlPort)
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    setTargets: (chosen) =>
      control(
        'targets',
        chosen.map(({ url, readyUrl }) => ({ url, readyUrl })),
      ),
    ready: () => control('ready'),
    stats: () => control('stats'),
    end: () => endChild(child),
  }
  await until('the start of the balancer', 20_000, async () => {
    await balancer.setTargets(targets)
    return true
  })
  await until('all replicas being ready', 20_000, async () => (await balancer.ready()) === targets.length)
  return balancer
}
