// F38: a very large number of triggers are due in the same minute. The scenario measures their lag, the rate
// of started runs, and the CPU time of each component.
import { availableParallelism } from 'node:os'
import { lagsOf } from '../checkers.ts'
import { pause, until } from '../children.ts'
import { cpuOf, cpuOfProcessTree } from '../cpu.ts'
import { judgeDrain, judgeFirings } from '../judge.ts'
import { type History, doubleScheduling, lostDelivery, lostRun } from '../mutants.ts'
import { readRuns } from '../recorder.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type Row, defineRow } from '../row.ts'
import { bySize } from '../schedule.ts'
import { type Stage, drain } from '../stage.ts'
import { deliveriesTimeline } from '../timelines.ts'
import { createVerdict, lagsAt, quantile } from '../verdict.ts'
import { endTriggers, minuteAfter, planTriggers } from '../world.ts'

type Spent = { replicas: number; postgres: number; backends: number }
type Observed = History & {
  dueAt: number
  /** Time until the last run was scheduled, and until the last run was finished. */
  scheduledMs: number
  drainSeconds: number | null
  /** The CPU time from the due time until all runs were delivered, as a number of cores. */
  cores: Spent
  /** The durations of API calls before and while the triggers fire. */
  apiMs: { before: number[]; during: number[] }
}

const destinations = 200

const spentBy = ({ replicas, cluster, sink }: Stage): Spent => ({
  replicas: replicas.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
  postgres: cpuOfProcessTree(cluster.postmasterPid),
  backends: cpuOf(sink.pid),
})

/**
 * Calls the API up to 10 times per second. The returned function stops the calls and resolves to the sorted
 * durations.
 */
function probeApi({ replicas, world }: Stage): () => Promise<number[]> {
  const durations: number[] = []
  const ending = new AbortController()
  const [deployment] = world.deployments
  const run = async (): Promise<void> => {
    for (let turn = 0; !ending.signal.aborted; turn++) {
      const start = performance.now()
      await fetch(
        `${replicas[turn % replicas.length]?.url}/api/machine/application/${deployment?.applicationId}/tenants`,
        {
          headers: { 'x-proxy-auth': proxySecret, authorization: `Bearer ${deployment?.token}` },
        },
      ).then((response) => response.text())
      durations.push(performance.now() - start)
      await pause(100)
    }
  }
  const running = run()
  return async () => {
    ending.abort()
    await running
    return durations.sort((a, b) => a - b)
  }
}

async function observe(stage: Stage): Promise<Observed> {
  const { cluster, sink, world, log } = stage
  const count = stage.options.triggers ?? bySize(stage.options, 20_000, 4_000)
  const dueAt = minuteAfter(20_000 + count / 2)
  const planned = await planTriggers(cluster.sql, world, { count, expression: '* * * * *', dueAt })
  await cluster.sql.query('analyze triggers')
  log(`${count} triggers are due in ${Math.round((dueAt - Date.now()) / 1_000)} s`)
  await pause(Math.max(0, dueAt - Date.now() - 10_000))
  const endBefore = probeApi(stage)
  await pause(dueAt - Date.now() - 500)
  const before = await endBefore()
  await pause(dueAt - Date.now())
  const [spentBefore, endDuring] = [spentBy(stage), probeApi(stage)]
  await until('the scheduling of all runs', 240_000, async () => {
    const { rows } = await cluster.sql.query<{ n: number }>(
      'select count(*)::integer as n from trigger_runs where scheduled_at = $1',
      [new Date(dueAt)],
    )
    return (rows[0]?.n ?? 0) >= count
  })
  const scheduledMs = Date.now() - dueAt
  // The triggers are disabled only if the next minute is near, because updating so many rows would distort the
  // measurement.
  const timer = setTimeout(() => void endTriggers(cluster.sql), Math.max(0, dueAt + 50_000 - Date.now()))
  const drainSeconds = await drain(stage, { runs: count, ms: 240_000, scheduledUntil: dueAt })
  clearTimeout(timer)
  const spentAfter = spentBy(stage)
  const wallMs = Date.now() - dueAt
  const isDue = ({ scheduledAt }: { scheduledAt: number }): boolean => scheduledAt === dueAt
  const coresOf = (who: keyof Spent): number => (spentAfter[who] - spentBefore[who]) / wallMs
  return {
    planned,
    runs: (await readRuns(cluster.sql)).filter(isDue),
    deliveries: (await sink.deliveries()).filter(isDue),
    dueAt,
    scheduledMs,
    drainSeconds,
    cores: { replicas: coresOf('replicas'), postgres: coresOf('postgres'), backends: coresOf('backends') },
    apiMs: { before, during: await endDuring() },
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  const { deliveries, cores, apiMs } = observed
  judgeFirings(figures, observed)
  const lags = lagsOf(deliveries)
  figures.show('lag_p50_s', quantile(lags, 0.5) / 1_000)
  figures.show('lag_p99_s', quantile(lags, 0.99) / 1_000)
  figures.show('lag_max_s', (lags.at(-1) ?? 0) / 1_000)
  figures.show('fires_per_s', Math.round(lags.length / Math.max(0.001, (lags.at(-1) ?? 0) / 1_000)))
  figures.show('scheduled_s', observed.scheduledMs / 1_000)
  figures.show('cores_replicas', cores.replicas)
  figures.show('cores_postgres', cores.postgres)
  figures.show('cores_backends', cores.backends)
  figures.show('cores_of_machine', availableParallelism())
  figures.show('api_before_ms', lagsAt(apiMs.before))
  figures.show('api_during_ms', lagsAt(apiMs.during))
  judgeDrain(figures, observed.drainSeconds)
  return figures.verdict
}

export const f38: Row = defineRow<Observed>({
  id: 'F38',
  title: 'very many triggers are due in the same minute',
  setup: ({ processes }) => ({ destinations, replicas: processes ?? 3 }),
  limitSeconds: 900,
  observe,
  judge,
  timeline: ({ deliveries }) => deliveriesTimeline(deliveries, []),
  mutants: [lostDelivery(), lostRun(), doubleScheduling()],
})
