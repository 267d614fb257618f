// F13: Redis accepts connections but does not reply. This causes one short wait instead of one wait per emit.
// The replicas stay ready. Delivery of hints, which are best-effort messages, resumes together with Redis.
import { pause } from '../children.ts'
import type { Emit } from '../comms-checkers.ts'
import { defineLostRedis } from '../lost-redis.ts'
import { waitForStep, stepOf } from '../schedule.ts'
import { lagsAt, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

const warmUpMs = 4_000
const beforeMs = 15_000
const hangMs = 30_000
// Every replica must detect within this time that Redis does not reply.
const noticeMs = 1_000
const goodRatio = 1.3
// On two cores, a p99 of a few milliseconds can vary by more than this ratio between two runs without a fault.
const slackMs = 10
const shortWaitMs = 250

/** Returns the durations of emits that started in this period, in ascending order. */
const durationsBetween = (emits: readonly Emit[], from: number, to: number): number[] =>
  emits
    .flatMap(({ attempts }) => attempts)
    .filter(({ start }) => start >= from && start < to)
    .map(({ start, end }) => end - start)
    .sort((a, b) => a - b)

/** `startedAt` is the start of the period without a fault. */
export const f13 = defineLostRedis<{ startedAt: number }>({
  id: 'F13',
  title: 'SIGSTOP of Redis for 30 s during emits and publishes, with sockets on three replicas',
  setup: { applications: 2 },
  schedule: (random) => {
    const atMs = Math.round(beforeMs + 3_000 * random())
    return [
      { what: 'freeze', target: 'redis', atMs },
      { what: 'resume', target: 'redis', atMs: atMs + hangMs },
    ]
  },
  rates: { emits: 100, publishes: 10 },
  injectFault: async ({ cluster, log }, schedule) => {
    await pause(warmUpMs)
    const startedAt = Date.now()
    await waitForStep(stepOf(schedule, 'freeze'), startedAt)
    log(`freezing Redis for ${hangMs / 1_000} s`)
    const brokenAt = Date.now()
    await cluster.applyFault('redis SIGSTOP')
    await waitForStep(stepOf(schedule, 'resume'), startedAt)
    log('resuming Redis')
    await cluster.applyFault('redis SIGCONT')
    return { brokenAt, healedAt: Date.now(), readExtra: () => ({ startedAt }) }
  },
  outage: 'Redis hangs',
  judge: (figures, { emits, startedAt, brokenAt, healedAt }) => {
    const before = durationsBetween(emits, startedAt, brokenAt)
    const during = durationsBetween(emits, brokenAt + noticeMs, healedAt)
    const [cleanP99, hungP99] = [quantile(before, 0.99), quantile(during, 0.99)]
    figures.atMost('emit_p99_ms', hungP99, cleanP99 * goodRatio + slackMs)
    figures.show('ratio', hungP99 / Math.max(1, cleanP99))
    figures.show('before_ms', lagsAt(before))
    figures.show('hung_ms', lagsAt(during))
    const first = durationsBetween(emits, brokenAt - 100, brokenAt + noticeMs)
    figures.atMost('first_wait_ms', first.at(-1) ?? 0, cleanP99 + shortWaitMs)
  },
  mutants: [
    mutant('every fiftieth emit waits for Redis', 'emit_p99_ms', (observed) => ({
      emits: observed.emits.map((emit, index) => ({
        ...emit,
        attempts: emit.attempts.map((attempt) =>
          index % 50 === 0 && attempt.start > observed.brokenAt
            ? { ...attempt, end: attempt.end + 5_000 }
            : attempt,
        ),
      })),
    })),
    mutant('the first wait is long', 'first_wait_ms', (observed) => ({
      emits: observed.emits.map((emit) => ({
        ...emit,
        attempts: emit.attempts.map((attempt) =>
          attempt.start > observed.brokenAt && attempt.start < observed.brokenAt + 100
            ? { ...attempt, end: attempt.end + 5_000 }
            : attempt,
        ),
      })),
    })),
  ],
})
