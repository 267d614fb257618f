// F02: for 1 minute, one replica is killed every 3 s and replaced immediately. Its attempts are transferred to
// replicas that are later killed too. Even so, every run is scheduled once and delivered.
import { pause } from '../children.ts'
import { readHeldJobs } from '../held.ts'
import { defineLostReplica } from '../lost-replica.ts'
import { type Schedule, waitForStep } from '../schedule.ts'
import type { ActiveJob, Stage } from '../stage.ts'
import { lagsAt, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

type Seen = {
  kills: { replica: string; at: number; running: number }[]
  /** Time until each replacement was ready. */
  startsMs: number[]
}

const killEveryMs = 3_000
const killsForMs = 60_000
const spreadMs = killsForMs + killEveryMs
const defaultRate = 200
/** A claim of a dead replica expires after 10 s without a heartbeat, and its successor may also be killed. */
const lagSeconds = 30
const minKills = 10

/** At every step, kills the oldest running replica unless it is the only one, and starts a new one. */
async function killInTurn(stage: Stage, schedule: Schedule, from: number) {
  const seen: Seen = { kills: [], startsMs: [] }
  const [heldJobs, starts]: [Promise<ActiveJob[]>[], Promise<void>[]] = [[], []]
  const replace = async (): Promise<void> => {
    const since = Date.now()
    await stage.startReplica()
    seen.startsMs.push(Date.now() - since)
  }
  for (const step of schedule) {
    await waitForStep(step, from)
    const running = stage.replicas.filter((replica) => replica.isAlive())
    const [victim] = running
    // The last replica is not killed, because that would only measure the start time.
    if (victim === undefined || running.length < 2) continue
    stage.log(`killing ${victim.name}, ${running.length - 1} still running`)
    seen.kills.push({ replica: victim.name, at: Date.now(), running: running.length - 1 })
    victim.signal('SIGKILL')
    await victim.exit
    heldJobs.push(readHeldJobs(stage))
    starts.push(replace())
  }
  const jobs = (await Promise.all(heldJobs)).flat()
  await Promise.all(starts)
  return { jobs, seen }
}

export const f02 = defineLostReplica<Seen>({
  id: 'F02',
  title: 'kill -9 each of three replicas in turn, every 3 s for 60 s, at 200 runs per second',
  schedule: (random) => {
    const firstMs = killEveryMs * (0.5 + 0.5 * random())
    return Array.from({ length: killsForMs / killEveryMs }, (_, beat) => ({
      atMs: Math.round(firstMs + beat * killEveryMs),
      what: 'SIGKILL',
    }))
  },
  setup: { postgres: 'patroni', withSentinel: true },
  limitSeconds: 360,
  responseMs: 500,
  leadMs: 4_000,
  runs: () => ({ count: (defaultRate * spreadMs) / 1_000, spreadMs }),
  drainMs: 180_000,
  injectFault: async (stage, schedule, { dueAt, dueUntil }) => {
    const { jobs, seen } = await killInTurn(stage, schedule, dueAt)
    await pause(Math.max(0, dueUntil - Date.now()))
    return { jobs, readExtra: () => Promise.resolve(seen) }
  },
  judge: (figures, { planned, kills, startsMs }, lags) => {
    figures.atLeast('kills', kills.length, minKills)
    figures.atMost('p99_lag_s', quantile(lags, 0.99) / 1_000, lagSeconds)
    figures.show('fires_s', (planned.length * 1_000) / spreadMs)
    figures.show('min_running', Math.min(...kills.map(({ running }) => running)))
    figures.show('start_ms', lagsAt(startsMs.toSorted((a, b) => a - b)))
  },
  mutants: [
    mutant('runs of dead replicas are taken over after a minute', 'p99_lag_s', (observed) => ({
      deliveries: observed.deliveries.map((one, index) =>
        index % 20 === 0 ? { ...one, at: one.at + 60_000 } : one,
      ),
    })),
    mutant('too few replicas are killed', 'kills', (observed) => ({
      kills: observed.kills.slice(0, minKills - 1),
    })),
  ],
})
