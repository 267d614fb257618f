// F04 and F05: PostgreSQL is restarted while backends emit and try again under the same key until they are accepted. F04
// stops it in order, which ends its sessions at once; F05 stops it as a crash does, and it recovers from its log. What was
// accepted is kept, what was tried again is stored once, and emits are accepted soon after it is back.
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
import { type CommsStage, type ReadinessSample, inTurn, watchReadiness } from '../comms-stage.ts'
import { judgeDrain } from '../judge.ts'
import { areReady, waitQuietly } from '../quiet.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { type Schedule, bySize, stepOf } from '../schedule.ts'
import { emitsTimeline } from '../timelines.ts'
import { createVerdict, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

type Observed = EmitHistory & {
  /** When it was told to stop, when it was gone, when it was started, and when it answered again. */
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
// Readiness is known for up to a second; a shorter outage may pass unseen.
const downMs = 1_500
// A restart seldom hits the moment between a commit and its answer. These callers give up at any moment of theirs.
const shareCut = 0.05
const mostCutMs = 100

const countOf = (options: CommsStage['options']): number => options.emits ?? bySize(options, 5_000, 1_000)

/** When PostgreSQL is stopped, in emits that are done; and which callers give up on their first try, after how long. */
function plan(random: () => number, options: CommsStage['options']): Schedule {
  const count = countOf(options)
  const restart = { what: 'restart after emits', target: Math.floor(count * (0.2 + 0.4 * random())), atMs: 0 }
  const cuts = [...Array(count).keys()]
    .filter(() => random() < shareCut)
    .map((target) => ({ what: 'caller gives up', target, atMs: Math.ceil(mostCutMs * random()) }))
  return [restart, ...cuts]
}

async function observe(stage: CommsStage, schedule: Schedule, mode: Mode): Promise<Observed> {
  const { cluster, world, calls, random, say, replicas } = stage
  const count = countOf(stage.options)
  const emits = Array.from({ length: count }, () => planEmit(world, random, recipients))
  const restartAfter = stepOf(schedule, 'restart after emits').target
  const cuts = new Map(
    schedule.filter(({ what }) => what === 'caller gives up').map(({ target, atMs }) => [target, atMs]),
  )
  const endWatch = watchReadiness(replicas)
  const next = inTurn(replicas)
  let done = 0
  const restarted = Promise.withResolvers<Times>()
  const restart = async (): Promise<Times> => {
    say(`restarting PostgreSQL (${mode}) after ${done} emits`)
    const stopAt = Date.now()
    await cluster.harm(`postgres stop ${mode}`)
    const downAt = Date.now()
    await pause(downMs)
    const startAt = Date.now()
    await cluster.harm('postgres start')
    return { stopAt, downAt, startAt, backAt: Date.now() }
  }
  say(`${count} emits by ${clients} clients`)
  await inParallel([...emits.entries()], clients, async ([index, emit]) => {
    await emitUntilAccepted(calls, next, emit, cuts.get(index))
    if (done++ === restartAfter) restart().then(restarted.resolve, restarted.reject)
  })
  const times = await restarted.promise
  say('reading the inboxes')
  const drainSeconds = await waitQuietly(stage, {
    what: 'every replica is ready',
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

/** When emits were accepted again: by a call that began after the end, or was answered after the start. */
function acceptedAgainAt({ emits, downAt, backAt }: Observed): number {
  const ends = emits.flatMap(({ attempts }) =>
    attempts
      .filter(({ status, start, end }) => status === 202 && (start >= downAt || end >= backAt))
      .map(({ end }) => end),
  )
  return Math.min(...ends)
}

// An id carries the time of the database's clock, as the service knows it.
const clockMs = 50

/** Emits that were committed by a try whose caller got no answer, and accepted when they were tried again. */
const findKeptUnanswered = (emits: readonly Emit[]): Emit[] =>
  emits.filter(({ accepted, attempts }) => {
    const accepting = attempts.find(({ status }) => status === 202)
    const [kept] = accepted
    if (kept === undefined || accepting === undefined) return false
    return idTimeOf(kept.notificationId) < accepting.start - clockMs
  })

/** The time in a UUIDv7. */
const idTimeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

/** Replicas that never said that they cannot work, or do not say in the end that they can. */
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
  // A restart that nobody notices shows nothing.
  figures.atLeast('retried', attempts.length - emits.length, 1)
  figures.show('without_answer', attempts.filter(({ status }) => status === 0).length)
  // Without these, keys would not have mattered.
  figures.atLeast('kept_unanswered', findKeptUnanswered(emits).length, 1)
  figures.recovery('first_202_after_ms', {
    ms: Math.max(0, acceptedAgainAt(observed) - backAt),
    most: firstMs,
  })
  figures.show('stop_ms', downAt - stopAt)
  figures.show('recovery_ms', backAt - startAt)
  figures.none('ready_503_then_200', findUnready(observed))
  figures.none('exits', observed.ended)
  const taken = attempts
    .filter(({ status }) => status === 202)
    .map(({ start, end }) => end - start)
    .sort((a, b) => a - b)
  figures.show('emit_p99_ms', quantile(taken, 0.99))
  judgeDrain(figures, observed.drainSeconds)
  return figures.verdict
}

/** The row with this number, in which PostgreSQL is stopped in this way. */
const defineRestart = (id: string, mode: Mode): Row =>
  defineCommsRow<Observed>({
    id,
    title: `PostgreSQL stopped (-m ${mode}) and started during 5,000 emits by ${clients} clients that try again`,
    schedule: plan,
    setup: () => ({ replicas: 3, applications: 2, users: 200 }),
    limitSeconds: 240,
    observe: (stage, schedule) => observe(stage, schedule, mode),
    judge,
    timeline: ({ emits, stopAt, backAt }) =>
      emitsTimeline(emits, [{ at: stopAt, until: backAt, name: 'PostgreSQL is away' }]),
    mutants: [
      lostNotification(),
      lostRecipient(),
      duplicateNotification(),
      refusedEmit('refused'),
      mutant('no try is repeated after its commit', 'kept_unanswered', (observed) => ({
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
      mutant('a replica says that it is ready without a database', 'ready_503_then_200', (observed) => ({
        samples: observed.samples.map((sample) =>
          sample.replica === observed.replicas[0] ? { ...sample, status: 200 } : sample,
        ),
      })),
      mutant('a replica ends', 'exits', (observed) => ({ ended: observed.replicas.slice(0, 1) })),
    ],
  })

export const f04 = defineRestart('F04', 'fast')
export const f05 = defineRestart('F05', 'immediate')
