// F39 to F42: the PostgreSQL leader is lost in different ways under the mixed load. Plain clients write to the same
// cluster, so that the difference shows how much the service adds to the recovery time of PostgreSQL.
import { pause } from '../children.ts'
import { awaitSteady } from '../bare/writers.ts'
import type { PatroniFault } from '../engines/patroni.ts'
import { startPostgresClients } from '../bare/plain-clients.ts'
import type { Mutant, Row } from '../row.ts'
import { type Schedule, bySize, waitForStep } from '../schedule.ts'
import { writeTimes, writeRecoveryMs } from '../mixed/checkers.ts'
import type { FaultSpan } from '../mixed/history.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import { mutant } from '../plant.ts'

/** One loss of the leader: its time, the end of the observation, and the recovery time of the plain clients. */
type Loss = FaultSpan & { from: number; to: number; leaderMs: number; bareMs: number }
type Observed = MixedObserved & { losses: Loss[]; bareLost: string[] }

/** Time that the service may add to the recovery of PostgreSQL. */
const maxOverheadMs = 3_000
const firstMs = 5_000
const roundMs = 45_000
const plainClients = 4

async function observe(stage: MixedStage, schedule: Schedule): Promise<Observed> {
  const { patroni } = stage.cluster
  if (patroni === null) throw new Error('this scenario needs a Patroni cluster')
  const bare = stage.registerPart(
    await startPostgresClients(patroni.adminUrl, { count: plainClients, name: 'plain' }),
  )
  const load = await stage.startLoad((schedule.length * roundMs + firstMs) / 1_000)
  const losses: Loss[] = []
  for (const step of schedule) {
    await waitForStep(step, load.startedAt)
    stage.log(step.what)
    const { node, at } = await patroni.applyFault(step.what as PatroniFault)
    const next = await patroni.newLeader(node)
    await awaitSteady(bare.writers, 3_000)
    const until = Date.now()
    await pause(2_000)
    await patroni.heal()
    const bareMs = writeRecoveryMs(
      bare.writers.acknowledged.map((write) => write.at),
      { at, until },
    )
    losses.push({ name: step.what, at, until, from: node, to: next.node, leaderMs: next.at - at, bareMs })
  }
  await load.end()
  const bareLost = await bare.findLost()
  return { ...(await load.settle()), faults: losses, losses, bareLost }
}

const mutants: readonly Mutant<Observed>[] = [
  mutant('the service keeps using the previous leader', 'writes_back_ms', (observed) => ({
    losses: observed.losses.map((loss) => ({ ...loss, bareMs: -60_000 })),
  })),
  mutant('no other node becomes leader', 'leaders', (observed) => ({
    losses: observed.losses.map((loss) => ({ ...loss, to: loss.from })),
  })),
  mutant('the engine loses an acknowledged write', 'bare_lost', () => ({ bareLost: ['1-1'] })),
]

/** Creates a scenario in which the leader is lost in this way and a different node is promoted. */
const defineFailoverRow = (id: string, title: string, fault: PatroniFault): Row =>
  defineMixedRow<Observed>({
    id,
    title: `${title}, with all features in use`,
    schedule: (random, options) =>
      Array.from({ length: bySize(options, 2, 1) }, (_, round) => ({
        atMs: Math.round(firstMs + round * roundMs + random() * 3_000),
        what: fault,
      })),
    setup: () => ({
      replicas: 3,
      postgres: 'patroni',
      network: fault.startsWith('partition'),
      withSentinel: true,
    }),
    limitSeconds: 420,
    observe,
    judge: (figures, { losses, operations, bareLost }) => {
      figures.none('bare_lost', bareLost)
      figures.none(
        'leaders',
        losses.filter(({ from, to }) => from === to).map(({ name }) => name),
      )
      const times = writeTimes(operations)
      const outages = losses
        .map(({ at, until, bareMs }) => ({ ms: writeRecoveryMs(times, { at, until }), bareMs }))
        .sort((a, b) => b.ms - b.bareMs - (a.ms - a.bareMs))
      figures.show('leader_ms', losses.map(({ leaderMs }) => leaderMs).join('/'))
      figures.show('outages_ms', outages.map(({ ms, bareMs }) => `${ms}:${bareMs}`).join('/'))
      // The outage that the service prolonged the most.
      const { ms, bareMs } = outages[0] ?? { ms: Infinity, bareMs: 0 }
      figures.recovery('writes_back_ms', { ms, max: bareMs + maxOverheadMs, bareMs })
    },
    mutants,
  })

export const f39 = defineFailoverRow('F39', 'kill -9 of the PostgreSQL leader', 'kill')
export const f40 = defineFailoverRow('F40', 'planned switchover of PostgreSQL', 'switchover')
export const f41 = defineFailoverRow('F41', 'the PostgreSQL leader and its Patroni are frozen', 'freeze-all')
export const f42 = defineFailoverRow(
  'F42',
  'the PostgreSQL leader is partitioned from all nodes and clients',
  'partition',
)
