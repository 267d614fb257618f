// F01: a replica is killed while runs are due. Each run is scheduled once and delivered. Only runs that the dead
// replica had claimed may arrive twice, and other replicas soon take over these runs.
import { checkSet } from '../checkers.ts'
import { pause } from '../children.ts'
import { readHeldJobs } from '../held.ts'
import { defineLostReplica, replicas } from '../lost-replica.ts'
import { pick } from '../random.ts'
import { keysOf } from '../recorder.ts'
import { bySize, waitForStep, stepOf, targetOf } from '../schedule.ts'
import { mutant } from '../plant.ts'

type Seen = {
  killedAt: number
  /** The time when the last run of the dead replica finished. */
  takenOverAt: number
  registered: string[]
  stored: string[]
}

const spreadMs = 10_000
const takeoverMs = 20_000

export const f01 = defineLostReplica<Seen>({
  id: 'F01',
  title: 'kill -9 one of three replicas while 10,000 runs fall due within 10 s',
  schedule: (random) => [
    { what: 'kill', target: pick(random, replicas), atMs: Math.round(spreadMs * (0.3 + 0.4 * random())) },
  ],
  limitSeconds: 300,
  responseMs: 1_000,
  leadMs: 4_000,
  runs: (options) => ({ count: bySize(options, 10_000, 2_000), spreadMs }),
  drainMs: 180_000,
  injectFault: async (stage, schedule, { dueAt, dueUntil }) => {
    const kill = stepOf(schedule, 'kill')
    const victim = targetOf(stage.replicas, kill)
    await waitForStep(kill, dueAt)
    stage.log(`killing ${victim.name}`)
    const killedAt = Date.now()
    victim.signal('SIGKILL')
    const jobs = await readHeldJobs(stage)
    await pause(dueUntil - Date.now())
    return {
      jobs,
      readExtra: async (held) => {
        const { rows } = await stage.cluster.sql.query<{ id: string }>(
          'select application_id as id from backend_registrations',
        )
        return {
          killedAt,
          takenOverAt: Math.max(killedAt, ...held.map(({ finishedAt }) => finishedAt ?? Infinity)),
          registered: keysOf(stage.world.recorder.operations, 'register', 'ok'),
          stored: rows.map(({ id }) => id),
        }
      },
    }
  },
  judge: (figures, { takenOverAt, killedAt, registered, stored }) => {
    figures.recovery('takeover_ms', { ms: takenOverAt - killedAt, max: takeoverMs })
    figures.none('registrations_lost', checkSet({ ok: registered, stored }).missing)
  },
  spans: ({ killedAt, takenOverAt }) => [
    { at: killedAt, until: takenOverAt, name: 'killed, until taken over' },
  ],
  mutants: [
    mutant('a run of the dead replica is taken over too late', 'takeover_ms', (observed) => ({
      takenOverAt: observed.killedAt + takeoverMs + 1,
    })),
    mutant('a registration is lost', 'registrations_lost', (observed) => ({
      stored: observed.stored.slice(1),
    })),
  ],
})
