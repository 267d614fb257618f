// F21: backends fail in every possible way. Attempts follow the retry policy and never start before Retry-After. After
// the last attempt, the run is recorded as failed.
import { checkOnce, checkRetries, checkRetryAfter, checkSet, plannedKeys } from '../checkers.ts'
import { pause } from '../children.ts'
import { judgeDrain } from '../judge.ts'
import { type History, doubleScheduling, lostRun } from '../mutants.ts'
import { type Delivery, keyOf, readRuns } from '../recorder.ts'
import { type Row, defineRow } from '../row.ts'
import { bySize } from '../schedule.ts'
import { type Stage, drain } from '../stage.ts'
import type { Mode } from '../sink.ts'
import { deliveriesTimeline } from '../timelines.ts'
import { createVerdict } from '../verdict.ts'
import { planTriggers, yearly } from '../world.ts'
import { mutant } from '../plant.ts'

type Observed = History & { drainSeconds: number | null }

const destinations = 100
const retryAfterSeconds = 3
const failing: Mode[] = ['500', `429:${retryAfterSeconds}`, 'reset']
const spreadMsOf = (options: Stage['options']): number => bySize(options, 30_000, 10_000)
// These delays are shorter than in production, so that the scenario takes only one minute.
const delaysMs = [1_000, 2_000, 4_000]
const policy = {
  delaysMs,
  jitter: 0.2,
  // The margin for polling: due attempts are polled a few times per second, on two cores that also run all other
  // processes.
  slackMs: 3_000,
  retryAfterMs: (mode: string): number => (mode.startsWith('429:') ? Number(mode.slice(4)) * 1_000 : 0),
}

async function observe(stage: Stage): Promise<Observed> {
  const { cluster, sink, world } = stage
  const all = [...Array(destinations).keys()]
  // A quarter of the backends accept runs. Backends are assigned to projects in rotation, so each project has
  // every kind.
  for (const [index, mode] of failing.entries())
    await sink.setMode(
      all.filter((destination) => Math.floor(destination / 4) % 4 === index),
      mode,
    )
  const dueAt = Date.now() + 3_000
  const spreadMs = spreadMsOf(stage.options)
  const count = stage.options.triggers ?? bySize(stage.options, 3_000, 800)
  const planned = await planTriggers(cluster.sql, world, { count, expression: yearly, dueAt, spreadMs })
  await pause(dueAt + spreadMs - Date.now())
  const drainSeconds = await drain(stage, { runs: count, ms: 120_000 })
  return { planned, runs: await readRuns(cluster.sql), deliveries: await sink.deliveries(), drainSeconds }
}

function judge({ planned, runs, deliveries, drainSeconds }: Observed) {
  const figures = createVerdict()
  const { missing, unexpected } = checkSet({ ok: plannedKeys(planned), stored: runs.map(keyOf) })
  figures.none('lost', missing)
  figures.none('dup_sched', [...new Set([...checkOnce(runs, deliveries), ...unexpected])])
  const byRun = Map.groupBy(deliveries, ({ runId }) => runId)
  const maxAttempts = Math.max(0, ...[...byRun.values()].map(({ length }) => length))
  figures.atMost('attempts_per_run', maxAttempts, delaysMs.length + 1)
  figures.none('policy_violations', checkRetries(deliveries, policy))
  const { followed, early } = checkRetryAfter(deliveries, policy.retryAfterMs)
  figures.atLeast('retry_after_honored_pct', followed === 0 ? 0 : (100 * (followed - early)) / followed, 100)
  // A run of an accepting backend has one attempt. Any other run has used all attempts and has failed.
  const isFailing = (id: string): boolean => byRun.get(id)?.some(({ mode }) => mode !== 'ok') ?? true
  const [rejectedRuns, acceptedRuns] = [
    runs.filter(({ id }) => isFailing(id)),
    runs.filter(({ id }) => !isFailing(id)),
  ]
  const hasFailed = ({ id, outcome }: { id: string; outcome: string }): boolean =>
    outcome === 'failed' && byRun.get(id)?.length === delaysMs.length + 1
  figures.none(
    'not_failed',
    rejectedRuns.filter((run) => !hasFailed(run)).map(({ id, outcome }) => `${id} ${outcome}`),
  )
  figures.show('failed_runs', rejectedRuns.length)
  figures.none(
    'not_delivered',
    acceptedRuns.filter(({ outcome }) => outcome !== 'delivered').map(({ id }) => id),
  )
  figures.show('requests', deliveries.length)
  judgeDrain(figures, drainSeconds)
  return figures.verdict
}

/** Changes the second attempt of a run that this kind of backend received. */
const changeSecond = (
  observed: Observed,
  mode: string,
  change: (sent: Delivery, before: Delivery) => Delivery,
): Observed => {
  const second = observed.deliveries.find(
    (sent) => sent.attempt === 2 && sent.mode.startsWith(mode),
  ) as Delivery
  const before = observed.deliveries.find(
    (sent) => sent.runId === second.runId && sent.attempt === 1,
  ) as Delivery
  const changed = change(second, before)
  return { ...observed, deliveries: observed.deliveries.map((sent) => (sent === second ? changed : sent)) }
}

export const f21: Row = defineRow<Observed>({
  id: 'F21',
  title: 'backends return 500 or 429 with Retry-After, or reset the connection',
  setup: () => ({
    destinations,
    replicas: 3,
    env: { SVC_TRIGGERS_RETRY_DELAYS: delaysMs.map((ms) => `${ms / 1_000}s`).join(',') },
  }),
  limitSeconds: 300,
  observe,
  judge,
  timeline: ({ deliveries }) => deliveriesTimeline(deliveries, []),
  mutants: [
    lostRun(),
    doubleScheduling(),
    mutant('an attempt starts too early', 'policy_violations', (observed) =>
      changeSecond(observed, '500', (sent, before) => ({ ...sent, at: before.at + 500 })),
    ),
    mutant('an attempt starts before Retry-After', 'retry_after_honored_pct', (observed) =>
      changeSecond(observed, '429', (sent, before) => ({ ...sent, at: before.at + 1_000 })),
    ),
    mutant('a run has too many attempts', 'attempts_per_run', (observed) => {
      const last = observed.deliveries.find(({ attempt }) => attempt === delaysMs.length + 1) as Delivery
      const more = { ...last, attempt: last.attempt + 1, at: last.at + 5_000 }
      return { deliveries: [...observed.deliveries, more] }
    }),
    mutant('a run that failed is not recorded as failed', 'not_failed', (observed) => ({
      runs: observed.runs.map((run) => (run.outcome === 'failed' ? { ...run, outcome: 'delivered' } : run)),
    })),
  ],
})
