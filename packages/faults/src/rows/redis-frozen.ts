// F13: Redis hangs: it accepts connections and answers nothing. That costs one short wait and not one per emit; replicas
// stay ready, and hints flow again when it goes on.
import { pause } from '../children.ts'
import type { Emit } from '../comms-checkers.ts'
import { defineLostRedis } from '../lost-redis.ts'
import { reach, stepOf } from '../schedule.ts'
import { lagsAt, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

const warmUpMs = 4_000
const beforeMs = 15_000
const hangMs = 30_000
// Within this time every replica has noticed that Redis does not answer.
const noticeMs = 1_000
const goodRatio = 1.3
// On two cores a p99 of some milliseconds moves by more than that between two runs without any fault.
const slackMs = 10
const shortWaitMs = 250

/** How long the emits took that began within this time, the shortest first. */
const takenBy = (emits: readonly Emit[], from: number, to: number): number[] =>
  emits
    .flatMap(({ attempts }) => attempts)
    .filter(({ start }) => start >= from && start < to)
    .map(({ start, end }) => end - start)
    .sort((a, b) => a - b)

/** `startedAt`: when the time without harm began. */
export const f13 = defineLostRedis<{ startedAt: number }>({
  id: 'F13',
  title: 'SIGSTOP of Redis for 30 s during emits and publishes, with sockets on three replicas',
  setup: { applications: 2 },
  schedule: (random) => {
    const atMs = Math.round(beforeMs + 3_000 * random())
    return [
      { what: 'stop', target: 'redis', atMs },
      { what: 'wake', target: 'redis', atMs: atMs + hangMs },
    ]
  },
  rates: { emits: 100, publishes: 10 },
  harm: async ({ cluster, say }, schedule) => {
    await pause(warmUpMs)
    const startedAt = Date.now()
    await reach(stepOf(schedule, 'stop'), startedAt)
    say(`stopping Redis for ${hangMs / 1_000} s`)
    const harmedAt = Date.now()
    await cluster.harm('redis SIGSTOP')
    await reach(stepOf(schedule, 'wake'), startedAt)
    say('waking Redis')
    await cluster.harm('redis SIGCONT')
    return { harmedAt, healedAt: Date.now(), look: () => ({ startedAt }) }
  },
  outage: 'Redis hangs',
  judge: (figures, { emits, startedAt, harmedAt, healedAt }) => {
    const before = takenBy(emits, startedAt, harmedAt)
    const during = takenBy(emits, harmedAt + noticeMs, healedAt)
    const [cleanP99, hungP99] = [quantile(before, 0.99), quantile(during, 0.99)]
    figures.atMost('emit_p99_ms', hungP99, cleanP99 * goodRatio + slackMs)
    figures.show('ratio', hungP99 / Math.max(1, cleanP99))
    figures.show('before_ms', lagsAt(before))
    figures.show('hung_ms', lagsAt(during))
    const first = takenBy(emits, harmedAt - 100, harmedAt + noticeMs)
    figures.atMost('first_wait_ms', first.at(-1) ?? 0, cleanP99 + shortWaitMs)
  },
  mutants: [
    mutant('every fiftieth emit waits for Redis', 'emit_p99_ms', (observed) => ({
      emits: observed.emits.map((emit, index) => ({
        ...emit,
        attempts: emit.attempts.map((attempt) =>
          index % 50 === 0 && attempt.start > observed.harmedAt
            ? { ...attempt, end: attempt.end + 5_000 }
            : attempt,
        ),
      })),
    })),
    mutant('the first wait is long', 'first_wait_ms', (observed) => ({
      emits: observed.emits.map((emit) => ({
        ...emit,
        attempts: emit.attempts.map((attempt) =>
          attempt.start > observed.harmedAt && attempt.start < observed.harmedAt + 100
            ? { ...attempt, end: attempt.end + 5_000 }
            : attempt,
        ),
      })),
    })),
  ],
})
