// F02: a replica is killed every three seconds for a minute, each in turn, and replaced at once. What one had in its hands
// goes to others, who are killed as well; every run is scheduled once and delivered all the same.
import { pause } from '../children.ts'
import { readHeldJobs } from '../held.ts'
import { defineLostReplica } from '../lost-replica.ts'
import { type Schedule, reach } from '../schedule.ts'
import type { ActiveJob, Stage } from '../stage.ts'
import { lagsAt, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

type Seen = {
  kills: { replica: string; at: number; living: number }[]
  /** Replicas that took the place of others, and how long each took to be ready. */
  startsMs: number[]
}

const killEveryMs = 3_000
const killsForMs = 60_000
const spreadMs = killsForMs + killEveryMs
const defaultRate = 200
/** A claim of a dead replica ends after 10 s without a heartbeat; whoever takes over may be killed as well. */
const lagSeconds = 30
const fewestKills = 10

/** Kills the oldest replica that lives at every beat, unless it is the only one, and starts another at once. */
async function killInTurn(stage: Stage, schedule: Schedule, from: number) {
  const seen: Seen = { kills: [], startsMs: [] }
  const [looks, starts]: [Promise<ActiveJob[]>[], Promise<void>[]] = [[], []]
  const replace = async (): Promise<void> => {
    const since = Date.now()
    await stage.startReplica()
    seen.startsMs.push(Date.now() - since)
  }
  for (const step of schedule) {
    await reach(step, from)
    const living = stage.replicas.filter((replica) => replica.isAlive())
    const [victim] = living
    // Without any replica nothing is shown but that they start slowly here.
    if (victim === undefined || living.length < 2) continue
    stage.say(`killing ${victim.name}, ${living.length - 1} live on`)
    seen.kills.push({ replica: victim.name, at: Date.now(), living: living.length - 1 })
    victim.signal('SIGKILL')
    await victim.exit
    looks.push(readHeldJobs(stage))
    starts.push(replace())
  }
  const jobs = (await Promise.all(looks)).flat()
  await Promise.all(starts)
  return { jobs, seen }
}

export const f02 = defineLostReplica<Seen>({
  id: 'F02',
  title: 'kill -9 each of three replicas in turn, every 3 s for 60 s, at 200 runs a second',
  schedule: (random) => {
    const firstMs = killEveryMs * (0.5 + 0.5 * random())
    return Array.from({ length: killsForMs / killEveryMs }, (_, beat) => ({
      atMs: Math.round(firstMs + beat * killEveryMs),
      what: 'SIGKILL',
    }))
  },
  setup: { postgres: 'patroni', withSentinel: true },
  limitSeconds: 360,
  answerMs: 500,
  leadMs: 4_000,
  runs: () => ({ count: (defaultRate * spreadMs) / 1_000, spreadMs }),
  drainMs: 180_000,
  harm: async (stage, schedule, { dueAt, dueUntil }) => {
    const { jobs, seen } = await killInTurn(stage, schedule, dueAt)
    await pause(Math.max(0, dueUntil - Date.now()))
    return { jobs, look: () => Promise.resolve(seen) }
  },
  judge: (figures, { planned, kills, startsMs }, lags) => {
    figures.atLeast('kills', kills.length, fewestKills)
    figures.atMost('p99_lag_s', quantile(lags, 0.99) / 1_000, lagSeconds)
    figures.show('fires_s', (planned.length * 1_000) / spreadMs)
    figures.show('least_living', Math.min(...kills.map(({ living }) => living)))
    figures.show('start_ms', lagsAt(startsMs.toSorted((a, b) => a - b)))
  },
  mutants: [
    mutant('what the dead ones had is taken over after a minute', 'p99_lag_s', (observed) => ({
      deliveries: observed.deliveries.map((one, index) =>
        index % 20 === 0 ? { ...one, at: one.at + 60_000 } : one,
      ),
    })),
    mutant('hardly a replica is killed', 'kills', (observed) => ({
      kills: observed.kills.slice(0, fewestKills - 1),
    })),
  ],
})
