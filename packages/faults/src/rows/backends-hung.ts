// F20: some backends accept requests and never respond. Runs for the other backends must not be delayed.
import { lagsOf } from '../checkers.ts'
import { pause } from '../children.ts'
import { pick } from '../random.ts'
import type { Delivery } from '../recorder.ts'
import { type Row, defineRow } from '../row.ts'
import { type Schedule, bySize } from '../schedule.ts'
import type { Stage } from '../stage.ts'
import { deliveriesTimeline } from '../timelines.ts'
import { createVerdict, lagsAt, quantile } from '../verdict.ts'
import { planTriggers, yearly } from '../world.ts'
import { mutant } from '../plant.ts'

type Observed = {
  /**
   * For each phase: the number of runs planned for healthy backends, and the deliveries that these backends received.
   */
  plannedHealthy: number
  clean: Delivery[]
  faulty: Delivery[]
  /** Maximum number of concurrent requests at each silent backend. */
  stuck: number[]
}

const destinations = 100
const silentCount = 5
// Backends are assigned to four projects in rotation, so every project has silent backends.
const projects = 4
const perSecond = 200
const phaseMsOf = (options: Stage['options']): number => bySize(options, 30_000, 15_000)
const warmUpMs = 5_000
// The goal is 1.1. Replicas, PostgreSQL and backends share two cores, so a p99 of a few milliseconds varies more than
// that between two runs without a fault. The absolute slack accounts for this variation.
const goodRatio = 1.3
const slackMs = 300
const maxPerDeployment = 32
/**
 * The maximum number of open requests at one destination, over all replicas: first attempts, and the same number of
 * retries.
 */
const capPerDestination = 2 * maxPerDeployment

/** Runs triggers at all backends for `ms`. Returns the deliveries to healthy backends. */
async function fire(stage: Stage, silent: readonly number[], ms: number): Promise<Delivery[]> {
  const { cluster, sink, world } = stage
  await sink.clear()
  const dueAt = Date.now() + 2_000
  const count = (perSecond * ms) / 1_000
  await planTriggers(cluster.sql, world, { count, expression: yearly, dueAt, spreadMs: ms })
  await pause(dueAt + ms - Date.now())
  for (let tries = 0; tries < 100; tries++) {
    const healthy = (await sink.deliveries()).filter(({ destination }) => !silent.includes(destination))
    if (new Set(healthy.map(({ runId }) => runId)).size >= healthyOf(count)) return healthy
    await pause(200)
  }
  return (await sink.deliveries()).filter(({ destination }) => !silent.includes(destination))
}

/** Triggers are assigned to destinations in rotation, so the number of healthy runs is exact. */
const healthyOf = (count: number): number => (count / destinations) * (destinations - silentCount)

async function observe(stage: Stage, schedule: Schedule): Promise<Observed> {
  const { sink, log } = stage
  const silent = schedule.map(({ target }) => Number(target))
  const phaseMs = phaseMsOf(stage.options)
  log('warming up')
  await fire(stage, silent, warmUpMs)
  log('all backends respond')
  const clean = await fire(stage, silent, phaseMs)
  log(`${silent.length} of ${destinations} backends do not respond`)
  await sink.setMode(silent, 'hang')
  const faulty = await fire(stage, silent, phaseMs)
  const peaks = await sink.peaks()
  return {
    plannedHealthy: healthyOf((perSecond * phaseMs) / 1_000),
    clean,
    faulty,
    stuck: silent.map((destination) => peaks[destination] ?? 0),
  }
}

function judge({ plannedHealthy, clean, faulty, stuck }: Observed) {
  const figures = createVerdict()
  const [cleanLags, faultyLags] = [lagsOf(clean), lagsOf(faulty)]
  figures.atLeast('healthy_delivered', faultyLags.length, plannedHealthy)
  const [cleanP99, faultyP99] = [quantile(cleanLags, 0.99), quantile(faultyLags, 0.99)]
  figures.atMost('healthy_lag_p99_ms', faultyP99, cleanP99 * goodRatio + slackMs)
  figures.show('ratio', faultyP99 / Math.max(1, cleanP99))
  figures.show('clean_ms', lagsAt(cleanLags))
  figures.show('faulty_ms', lagsAt(faultyLags))
  figures.atMost('stuck_per_destination', Math.max(...stuck), capPerDestination)
  // Every silent backend must have received a request. Otherwise, its silence was not tested.
  figures.atLeast('stuck', Math.min(...stuck), 1)
  return figures.verdict
}

export const f20: Row = defineRow<Observed>({
  id: 'F20',
  title: '5 of 100 backends accept requests and never respond, at 200 runs per second',
  schedule: (random, options) => {
    const first = projects * pick(random, destinations / projects - 1)
    const atMs = warmUpMs + phaseMsOf(options)
    return Array.from({ length: silentCount }, (_, index) => ({ what: 'hang', target: first + index, atMs }))
  },
  setup: () => ({
    destinations,
    replicas: 3,
    env: { SVC_TRIGGERS_MAX_DELIVERIES_PER_DEPLOYMENT: String(maxPerDeployment) },
  }),
  limitSeconds: 300,
  observe,
  judge,
  timeline: ({ clean, faulty }) =>
    deliveriesTimeline(
      [...clean, ...faulty],
      [
        {
          at: Math.min(...faulty.map(({ scheduledAt }) => scheduledAt)),
          until: Infinity,
          name: 'some backends hang',
        },
      ],
    ),
  mutants: [
    mutant('runs for healthy backends wait for silent backends', 'healthy_lag_p99_ms', (observed) => ({
      faulty: observed.faulty.map((sent, index) =>
        index % 50 === 0 ? { ...sent, at: sent.at + 30_000 } : sent,
      ),
    })),
    mutant('a silent backend uses every slot', 'stuck_per_destination', (observed) => ({
      stuck: observed.stuck.with(0, capPerDestination + 1),
    })),
    mutant('runs for healthy backends never arrive', 'healthy_delivered', (observed) => ({
      faulty: observed.faulty.slice(1),
    })),
  ],
})
