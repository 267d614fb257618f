// F02: a replica is killed every three seconds for a minute, each in turn, and replaced at once. What one had in its hands
// goes to others, who are killed as well; every run is scheduled once and delivered all the same.
import { lagsOf } from '../checkers.ts'
import { pause } from '../children.ts'
import { readHeldJobs, runsOf } from '../held.ts'
import { judgeDrain, judgeFirings, judgeRedelivered } from '../judge.ts'
import {
  type History,
  doubleScheduling,
  lostDelivery,
  lostRun,
  redelivery,
  redeliveryOfOthers,
  unstoredRun,
} from '../mutants.ts'
import { readRuns } from '../recorder.ts'
import { type Row, defineRow } from '../row.ts'
import { type Schedule, reach } from '../schedule.ts'
import { type ActiveJob, type Stage, drain } from '../stage.ts'
import { createVerdict, lagsAt, quantile } from '../verdict.ts'
import { planTriggers, yearly } from '../world.ts'

type Observed = History & {
  kills: { replica: string; at: number; living: number }[]
  /** A run once for each replica that had it in its hands when it was killed. */
  held: string[]
  /** Replicas that took the place of others, and how long each took to be ready. */
  startsMs: number[]
  drainSeconds: number | null
}

type Killed = Pick<Observed, 'kills' | 'startsMs'> & { jobs: ActiveJob[] }

const killEveryMs = 3_000
const killsForMs = 60_000
const defaultRate = 200
/** A claim of a dead replica ends after 10 s without a heartbeat; whoever takes over may be killed as well. */
const lagSeconds = 30
const fewestKills = 10

/** Kills the oldest replica that lives at every beat, unless it is the only one, and starts another at once. */
async function killInTurn(stage: Stage, schedule: Schedule, from: number): Promise<Killed> {
  const { kills, startsMs }: Pick<Killed, 'kills' | 'startsMs'> = { kills: [], startsMs: [] }
  const [looks, starts]: [Promise<ActiveJob[]>[], Promise<void>[]] = [[], []]
  const replace = async (): Promise<void> => {
    const since = Date.now()
    await stage.startReplica()
    startsMs.push(Date.now() - since)
  }
  for (const step of schedule) {
    await reach(step, from)
    const living = stage.replicas.filter((replica) => replica.isAlive())
    const [victim] = living
    // Without any replica nothing is shown but that they start slowly here.
    if (victim === undefined || living.length < 2) continue
    stage.say(`killing ${victim.name}, ${living.length - 1} live on`)
    kills.push({ replica: victim.name, at: Date.now(), living: living.length - 1 })
    victim.signal('SIGKILL')
    await victim.exit
    looks.push(readHeldJobs(stage))
    starts.push(replace())
  }
  const jobs = (await Promise.all(looks)).flat()
  await Promise.all(starts)
  return { kills, startsMs, jobs }
}

async function observe(stage: Stage, schedule: Schedule): Promise<Observed> {
  const { cluster, sink, world } = stage
  // An answer takes half a second, so that every replica has attempts in its hands whenever the kill comes.
  await sink.setMode([...Array(sink.size).keys()], 'ok:500')
  const dueAt = Date.now() + 4_000
  const spreadMs = killsForMs + killEveryMs
  const count = stage.options.triggers ?? (defaultRate * spreadMs) / 1_000
  const planned = await planTriggers(cluster.sql, world, { count, expression: yearly, dueAt, spreadMs })
  const { kills, startsMs, jobs } = await killInTurn(stage, schedule, dueAt)
  await pause(Math.max(0, dueAt + spreadMs - Date.now()))
  const drainSeconds = await drain(stage, { runs: planned.length, ms: 180_000 })
  const runs = await readRuns(cluster.sql)
  // The same attempt may be seen after several kills.
  const attempts = [...new Map(jobs.map((job) => [`${job.id} ${job.claims}`, job])).values()]
  return {
    planned,
    runs,
    deliveries: await sink.deliveries(),
    kills,
    startsMs,
    held: attempts.flatMap((job) => runsOf([job], runs).map(({ id }) => id)),
    drainSeconds,
  }
}

function judge(observed: Observed) {
  const { planned, kills, held, deliveries, startsMs, drainSeconds } = observed
  const figures = createVerdict()
  judgeFirings(figures, observed)
  figures.atLeast('kills', kills.length, fewestKills)
  // Kills that hit nothing show nothing.
  figures.atLeast('held', held.length, 1)
  judgeRedelivered(figures, observed)
  const lags = lagsOf(deliveries)
  figures.atMost('p99_lag_s', quantile(lags, 0.99) / 1_000, lagSeconds)
  figures.show('lag_ms', lagsAt(lags))
  figures.show('fires_s', (planned.length * 1_000) / (killsForMs + killEveryMs))
  figures.show('least_living', Math.min(...kills.map(({ living }) => living)))
  figures.show('start_ms', lagsAt(startsMs.toSorted((a, b) => a - b)))
  judgeDrain(figures, drainSeconds)
  return figures.verdict
}

export const f02: Row = defineRow<Observed>({
  id: 'F02',
  title: 'kill -9 each of three replicas in turn, every 3 s for 60 s, at 200 runs a second',
  schedule: (random) => {
    const firstMs = killEveryMs * (0.5 + 0.5 * random())
    return Array.from({ length: killsForMs / killEveryMs }, (_, beat) => ({
      atMs: Math.round(firstMs + beat * killEveryMs),
      what: 'SIGKILL',
    }))
  },
  setup: () => ({ destinations: 100, replicas: 3, postgres: 'patroni', withSentinel: true }),
  limitSeconds: 360,
  observe,
  judge,
  mutants: [
    lostDelivery(),
    lostRun(),
    doubleScheduling(),
    unstoredRun(),
    redelivery(({ held }) => held.length),
    redeliveryOfOthers(({ held }) => held),
    {
      name: 'what the dead ones had is taken over after a minute',
      breaks: 'p99_lag_s',
      plant: (observed) => ({
        ...observed,
        deliveries: observed.deliveries.map((one, index) =>
          index % 20 === 0 ? { ...one, at: one.at + 60_000 } : one,
        ),
      }),
    },
    {
      name: 'hardly a replica is killed',
      breaks: 'kills',
      plant: (observed) => ({ ...observed, kills: observed.kills.slice(0, fewestKills - 1) }),
    },
  ],
})
