// F39 to F42: the leader of PostgreSQL is lost in one way or another, under the mixed load. Beside the callers of the service, plain
// clients write to the same cluster: what the service adds to the time the engine needs is the difference.
import { pause } from '../children.ts'
import { awaitSteady } from '../bare/writers.ts'
import type { PatroniFault } from '../engines/patroni.ts'
import { startPostgresClients } from '../bare/plain-clients.ts'
import type { Mutant, Row } from '../row.ts'
import { type Schedule, bySize, reach } from '../schedule.ts'
import { writeTimes, writesBackMs } from '../mixed/checkers.ts'
import type { FaultSpan } from '../mixed/history.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import { mutant } from '../plant.ts'

/** One loss of the leader: when, until when it is watched, and what the plain clients needed. */
type Loss = FaultSpan & { from: number; to: number; leaderMs: number; bareMs: number }
type Observed = MixedObserved & { losses: Loss[]; bareLost: string[] }

/** What the service may add to what the engine needs. */
const mostOverMs = 3_000
const firstMs = 5_000
const roundMs = 45_000
const plainClients = 4

async function observe(stage: MixedStage, schedule: Schedule): Promise<Observed> {
  const { patroni } = stage.cluster
  if (patroni === null) throw new Error('PostgreSQL has no leader to lose')
  const bare = stage.ends(
    await startPostgresClients(patroni.adminUrl, { count: plainClients, name: 'beside' }),
  )
  const load = await stage.startLoad((schedule.length * roundMs + firstMs) / 1_000)
  const losses: Loss[] = []
  for (const step of schedule) {
    await reach(step, load.startedAt)
    stage.say(step.what)
    const { node, at } = await patroni.harm(step.what as PatroniFault)
    const next = await patroni.newLeader(node)
    await awaitSteady(bare.writers, 3_000)
    const until = Date.now()
    await pause(2_000)
    await patroni.heal()
    const bareMs = writesBackMs(
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
  mutant('the service stays with the former leader', 'writes_back_ms', (observed) => ({
    losses: observed.losses.map((loss) => ({ ...loss, bareMs: -60_000 })),
  })),
  mutant('no other node leads', 'leaders', (observed) => ({
    losses: observed.losses.map((loss) => ({ ...loss, to: loss.from })),
  })),
  mutant('the engine loses what it acknowledged', 'bare_lost', () => ({ bareLost: ['1-1'] })),
]

/** A row in which another node takes over, because the leader is lost like this. */
const defineFailoverRow = (id: string, title: string, fault: PatroniFault): Row =>
  defineMixedRow<Observed>({
    id,
    title: `${title}, under all features`,
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
        .map(({ at, until, bareMs }) => ({ ms: writesBackMs(times, { at, until }), bareMs }))
        .sort((a, b) => b.ms - b.bareMs - (a.ms - a.bareMs))
      figures.show('leader_ms', losses.map(({ leaderMs }) => leaderMs).join('/'))
      figures.show('outages_ms', outages.map(({ ms, bareMs }) => `${ms}:${bareMs}`).join('/'))
      // The one to which the service adds most.
      const { ms, bareMs } = outages[0] ?? { ms: Infinity, bareMs: 0 }
      figures.recovery('writes_back_ms', { ms, most: bareMs + mostOverMs, bareMs })
    },
    mutants,
  })

export const f39 = defineFailoverRow('F39', 'kill -9 of the leader of PostgreSQL', 'kill')
export const f40 = defineFailoverRow('F40', 'planned change of the leader of PostgreSQL', 'switchover')
export const f41 = defineFailoverRow(
  'F41',
  'the leader of PostgreSQL is frozen, with its Patroni',
  'freeze-all',
)
export const f42 = defineFailoverRow('F42', 'the leader of PostgreSQL is cut off from everyone', 'partition')
