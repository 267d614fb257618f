// F45: links are broken one at a time. Each link becomes slow or silent, refuses connections, or cuts responses in the
// middle. The links are between replicas and PostgreSQL, between replicas and Redis, and between the load balancer and
// replicas.
import { type FaultProxy, type LinkFaults, startFaultProxy } from '../engines/fault-proxy.ts'
import { pause } from '../children.ts'
import { writeTimes, writeRecoveryMs } from '../mixed/checkers.ts'
import type { FaultSpan } from '../mixed/history.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Row } from '../row.ts'
import { type Schedule, bySize, waitForStep } from '../schedule.ts'
import { writesNeverRecover } from '../mixed/spans.ts'

const linkFaults: Record<string, LinkFaults | 'reset'> = {
  slow: { latencyMs: 150, jitterMs: 100 },
  'low bandwidth': { bytesPerSecond: 20_000 },
  silent: { mode: 'silent' },
  'silent-down': { mode: 'silent-down' },
  refused: { mode: 'refuse' },
  'cut in a response': { resetAfterBytes: 400 },
  reset: 'reset',
}
const kinds = ['postgres', 'redis', 'front'] as const
const firstMs = 5_000
const intervalMs = 5_000
const faultMs = 3_500
const lastMs = 8_000

/** Combines every kind of link with every fault. The seed determines the order and the replicas. */
function plan(random: () => number, rounds: number): Schedule {
  const steps = kinds.flatMap((kind) => Object.keys(linkFaults).map((fault) => `${kind}: ${fault}`))
  for (let index = steps.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    ;[steps[index], steps[other]] = [steps[other] as string, steps[index] as string]
  }
  return steps.slice(0, rounds).map((what, index) => ({
    atMs: firstMs + index * intervalMs,
    what,
    target: Math.floor(random() * 3),
  }))
}

/** Inserts a fault proxy between the load balancer and each replica. */
async function openFronts({ folder, replicas, balancer, registerPart }: MixedStage): Promise<FaultProxy[]> {
  const fronts: FaultProxy[] = []
  for (const replica of replicas) {
    const { hostname, port } = new URL(replica.url)
    const front = registerPart(await startFaultProxy(folder, { host: hostname, port: Number(port) }))
    await balancer.add({ ...replica, url: `http://127.0.0.1:${front.port}` })
    await balancer.remove(replica)
    fronts.push(front)
  }
  return fronts
}

async function observe(stage: MixedStage, schedule: Schedule): Promise<MixedObserved> {
  const fronts = await openFronts(stage)
  const load = await stage.startLoad((firstMs + schedule.length * intervalMs + lastMs) / 1_000)
  const faults: FaultSpan[] = []
  for (const step of schedule) {
    await waitForStep(step, load.startedAt)
    const [kind = '', fault = ''] = step.what.split(': ')
    const replica = Number(step.target)
    const link = kind === 'front' ? fronts[replica] : stage.links[replica]?.[kind as 'postgres' | 'redis']
    const linkFault = linkFaults[fault]
    if (link === undefined || link === null || linkFault === undefined)
      throw new Error(`there is no link for ${step.what}`)
    stage.log(`${step.what} at replica ${replica + 1}`)
    const at = Date.now()
    if (linkFault === 'reset') await link.resetOpen()
    else {
      await link.set(linkFault)
      await pause(faultMs)
      await link.heal()
    }
    faults.push({ name: step.what, at, until: Date.now() })
  }
  await load.end()
  return { ...(await load.settle()), faults }
}

export const f45: Row = defineMixedRow<MixedObserved>({
  id: 'F45',
  title: 'latency, silence, refusal and resets on each link in turn, with all features in use',
  schedule: (random, options) =>
    plan(random, bySize(options, kinds.length * Object.keys(linkFaults).length, 6)),
  setup: () => ({ replicas: 3, postgres: 'patroni', withFaultProxies: true }),
  limitSeconds: 420,
  // The statuses that the load balancer returns if a replica's response is cut or times out.
  rules: { isAllowed: ({ status }) => status === 502 || status === 504 },
  observe,
  judge: (figures, { operations, faults }) => {
    figures.show('link_faults', faults.length)
    const failed = operations.filter(({ outcome }) => outcome === 'unknown')
    figures.show('err_pct', (100 * failed.length) / Math.max(1, operations.length))
    const last = faults.at(-1)
    const ms = writeRecoveryMs(writeTimes(operations), { at: last?.until ?? 0, until: Infinity })
    figures.recovery('recover_ms', { ms, max: 3_000 })
  },
  mutants: [writesNeverRecover('recover_ms', 1_000)],
})
