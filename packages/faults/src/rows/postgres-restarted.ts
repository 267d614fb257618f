// F04 and F05: PostgreSQL is restarted while backends retry emits under the same key until they are accepted. F04 uses
// a fast shutdown, which terminates all sessions. F05 uses an immediate shutdown, like a crash, with recovery from the
// WAL. Accepted emits are kept, retried emits are stored once, and emits are accepted soon after the restart.
import { pause } from '../children.ts'
import { emitUntilAccepted, planEmit, readInboxes } from '../comms-calls.ts'
import { inParallel } from '../pace.ts'
import {
  type Emit,
  type EmitHistory,
  checkAccepted,
  checkOncePerKey,
  findRefused,
  readStored,
} from '../comms-checkers.ts'
import { duplicateNotification, lostNotification, lostRecipient, refusedEmit } from '../comms-mutants.ts'
import { type CommsStage, type ReadinessSample, roundRobin, watchReadiness } from '../comms-stage.ts'
import { judgeDrain } from '../judge.ts'
import { areReady, waitQuietly } from '../quiet.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { type Schedule, bySize, stepOf } from '../schedule.ts'
import { emitsTimeline } from '../timelines.ts'
import { createVerdict, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

type Observed = EmitHistory & {
  /** The times of the stop request, the server exit, the restart and the first response after it. */
  stopAt: number
  downAt: number
  startAt: number
  backAt: number
  samples: ReadinessSample[]
  drainSeconds: number | null
  replicas: string[]
  ended: string[]
}
type Mode = 'fast' | 'immediate'
type Times = Pick<Observed, 'stopAt' | 'downAt' | 'startAt' | 'backAt'>

const clients = 64
const recipients = 3
const firstMs = 3_000
// Readiness is cached for up to 1 s, so a shorter outage may go unnoticed.
const downMs = 1_500
// A restart rarely occurs between a commit and its response, so some callers abort at random times.
const shareAborted = 0.05
const maxAbortMs = 100

const countOf = (options: CommsStage['options']): number => options.emits ?? bySize(options, 5_000, 1_000)

/**
 * Plans when PostgreSQL is stopped, as a number of emits. Also plans which callers abort their first attempt, and
 * when.
 */
function plan(random: () => number, options: CommsStage['options']): Schedule {
  const count = countOf(options)
  const restart = { what: 'restart after emits', target: Math.floor(count * (0.2 + 0.4 * random())), atMs: 0 }
  const aborts = [...Array(count).keys()]
    .filter(() => random() < shareAborted)
    .map((target) => ({ what: 'caller aborts', target, atMs: Math.ceil(maxAbortMs * random()) }))
  return [restart, ...aborts]
}

async function observe(stage: CommsStage, schedule: Schedule, mode: Mode): Promise<Observed> {
  const { cluster, world, calls, random, log, replicas } = stage
  const count = countOf(stage.options)
  const emits = Array.from({ length: count }, () => planEmit(world, random, recipients))
  const restartAfter = stepOf(schedule, 'restart after emits').target
  const aborts = new Map(
    schedule.filter(({ what }) => what === 'caller aborts').map(({ target, atMs }) => [target, atMs]),
  )
  const endWatch = watchReadiness(replicas)
  const next = roundRobin(replicas)
  let done = 0
  const restarted = Promise.withResolvers<Times>()
  const restart = async (): Promise<Times> => {
    log(`restarting PostgreSQL (${mode}) after ${done} emits`)
    const stopAt = Date.now()
    await cluster.applyFault(`postgres stop ${mode}`)
    const downAt = Date.now()
    await pause(downMs)
    const startAt = Date.now()
    await cluster.applyFault('postgres start')
    return { stopAt, downAt, startAt, backAt: Date.now() }
  }
  log(`${count} emits by ${clients} clients`)
  await inParallel([...emits.entries()], clients, async ([index, emit]) => {
    await emitUntilAccepted(calls, next, emit, aborts.get(index))
    if (done++ === restartAfter) restart().then(restarted.resolve, restarted.reject)
  })
  const times = await restarted.promise
  log('reading the inboxes')
  const drainSeconds = await waitQuietly(stage, {
    what: 'all replicas to be ready',
    ms: 30_000,
    holds: () => areReady(stage),
  })
  return {
    emits,
    ...times,
    drainSeconds,
    stored: await readStored(cluster.sql),
    inboxes: await readInboxes(calls, next, world),
    samples: await endWatch(),
    replicas: replicas.map(({ name }) => name),
    ended: replicas.filter((replica) => !replica.isAlive()).map(({ name }) => name),
  }
}

/**
 * Returns the time at which an emit was accepted again. The accepted emit either started after the stop or completed
 * after the restart.
 */
function acceptedAgainAt({ emits, downAt, backAt }: Observed): number {
  const ends = emits.flatMap(({ attempts }) =>
    attempts
      .filter(({ status, start, end }) => status === 202 && (start >= downAt || end >= backAt))
      .map(({ end }) => end),
  )
  return Math.min(...ends)
}

// An id contains the database time as estimated by the service.
const clockMs = 50

/** Returns emits that were committed by an attempt without a response and accepted on a retry. */
const findKeptUnanswered = (emits: readonly Emit[]): Emit[] =>
  emits.filter(({ accepted, attempts }) => {
    const accepting = attempts.find(({ status }) => status === 202)
    const [stored] = accepted
    if (stored === undefined || accepting === undefined) return false
    return idTimeOf(stored.notificationId) < accepting.start - clockMs
  })

/** Returns the timestamp in a UUIDv7. */
const idTimeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

/** Returns replicas that never reported that they are not ready, or that are not ready at the end. */
const findUnready = ({ samples, replicas, downAt }: Observed): string[] =>
  replicas.filter((replica) => {
    const own = samples.filter((sample) => sample.replica === replica && sample.at >= downAt)
    return !own.some(({ status }) => status === 503) || own.at(-1)?.status !== 200
  })

function judge(observed: Observed) {
  const figures = createVerdict()
  const { emits, stopAt, downAt, startAt, backAt } = observed
  figures.none('accepted_lost', checkAccepted(observed))
  figures.none('dup', checkOncePerKey(observed))
  figures.none('refused', findRefused(emits))
  const attempts = emits.flatMap((emit) => emit.attempts)
  // Some emits must have been retried. Otherwise, the restart interrupted none.
  figures.atLeast('retried', attempts.length - emits.length, 1)
  figures.show('without_answer', attempts.filter(({ status }) => status === 0).length)
  // Some emits must have been committed without a response. Otherwise, no retry needed its idempotency key.
  figures.atLeast('kept_unanswered', findKeptUnanswered(emits).length, 1)
  figures.recovery('first_202_after_ms', {
    ms: Math.max(0, acceptedAgainAt(observed) - backAt),
    max: firstMs,
  })
  figures.show('stop_ms', downAt - stopAt)
  figures.show('recovery_ms', backAt - startAt)
  figures.none('ready_503_then_200', findUnready(observed))
  figures.none('exits', observed.ended)
  const durations = attempts
    .filter(({ status }) => status === 202)
    .map(({ start, end }) => end - start)
    .sort((a, b) => a - b)
  figures.show('emit_p99_ms', quantile(durations, 0.99))
  judgeDrain(figures, observed.drainSeconds)
  return figures.verdict
}

/** Creates a scenario that stops PostgreSQL in this mode. */
const defineRestart = (id: string, mode: Mode): Row =>
  defineCommsRow<Observed>({
    id,
    title: `PostgreSQL stopped (-m ${mode}) and started during 5,000 emits by ${clients} retrying clients`,
    schedule: plan,
    setup: () => ({ replicas: 3, applications: 2, users: 200 }),
    limitSeconds: 240,
    observe: (stage, schedule) => observe(stage, schedule, mode),
    judge,
    timeline: ({ emits, stopAt, backAt }) =>
      emitsTimeline(emits, [{ at: stopAt, until: backAt, name: 'PostgreSQL is down' }]),
    mutants: [
      lostNotification(),
      lostRecipient(),
      duplicateNotification(),
      refusedEmit('refused'),
      mutant('no attempt is repeated after its commit', 'kept_unanswered', (observed) => ({
        emits: observed.emits.map((emit) => ({ ...emit, attempts: emit.attempts.slice(0, 1) })),
      })),
      mutant('the first emit is accepted too late', 'first_202_after_ms', (observed) => ({
        emits: observed.emits.map((emit) => ({
          ...emit,
          attempts: emit.attempts.filter(
            ({ end }) => end < observed.downAt || end > observed.backAt + firstMs,
          ),
        })),
      })),
      mutant('a replica reports that it is ready without a database', 'ready_503_then_200', (observed) => ({
        samples: observed.samples.map((sample) =>
          sample.replica === observed.replicas[0] ? { ...sample, status: 200 } : sample,
        ),
      })),
      mutant('a replica exits', 'exits', (observed) => ({ ended: observed.replicas.slice(0, 1) })),
    ],
  })

export const f04 = defineRestart('F04', 'fast')
export const f05 = defineRestart('F05', 'immediate')
