// F18: 10,000 sockets are cut at the same time and all of them reconnect. Meanwhile, emits are accepted, possibly
// after a retry, and PostgreSQL queries are batched across many sockets.
import { pause, until } from '../children.ts'
import { emitUntilAccepted, planEmit } from '../comms-calls.ts'
import { runAtPace } from '../pace.ts'
import { type Emit, findLate, findRefused, handshakesOf, listReturns } from '../comms-checkers.ts'
import { refusedEmit } from '../comms-mutants.ts'
import { type CommsStage, roundRobin, socketAt } from '../comms-stage.ts'
import { listenOverflows } from '../cpu.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { type Schedule, bySize, waitForStep, stepOf } from '../schedule.ts'
import type { SocketEvent } from '../sockets.ts'
import { emitsTimeline } from '../timelines.ts'
import { createVerdict, lagsAt, peakPerSecond } from '../verdict.ts'
import { lateSocket, mutant } from '../plant.ts'

type Observed = {
  sockets: number
  emits: Emit[]
  /** Socket events since the cut. */
  events: SocketEvent[]
  greeted: number
  /** Connections that the kernel dropped after the cut, on the whole machine. */
  overflows: number
  /** PostgreSQL transactions in each second, before and after the cut. */
  transactions: { before: number[]; after: number[] }
  /** Time until all sockets had their first hello. */
  openSeconds: number
}

const socketsPerPerson = 4
const emitsPerSecond = 20
// A busy replica may reject a socket, which then reconnects later. The goal is that no socket is rejected.
const marginMs = 15_000
// Far fewer transactions than reconnecting sockets: 10,000 within a jitter of 5 s.
const maxPerSecond = 500

/** Counts PostgreSQL's transactions every second until the returned function is called. */
function watchTransactions({ cluster }: CommsStage): () => Promise<number[]> {
  const totals: number[] = []
  const end = runAtPace(1, async () => {
    const { rows } = await cluster.sql.query<{ total: string }>(
      'select sum(xact_commit + xact_rollback) as total from pg_stat_database',
    )
    totals.push(Number(rows[0]?.total))
  })
  return async () => {
    await end()
    return totals.slice(1).map((total, index) => total - (totals[index] as number))
  }
}

async function observe(stage: CommsStage, schedule: Schedule): Promise<Observed> {
  const { world, calls, sockets, random, log, replicas } = stage
  const next = roundRobin(replicas)
  const [applicationId] = world.applicationIds as [string]
  const count = world.userIds.length * socketsPerPerson
  log(`opening ${count} sockets`)
  const start = Date.now()
  const opened = await sockets.open(
    Array.from({ length: count }, (_, index) =>
      socketAt(world, {
        url: next(),
        userId: world.userIds[index % world.userIds.length] as string,
        applicationId,
      }),
    ),
  )
  if (opened < count) throw new Error(`only ${opened} of ${count} sockets received a hello`)
  const openSeconds = (Date.now() - start) / 1_000
  await sockets.clear()
  const emits: Emit[] = []
  const endEmits = runAtPace(emitsPerSecond, async () => {
    const emit = planEmit(world, random, 3)
    emits.push(emit)
    await emitUntilAccepted(calls, next, emit)
  })
  const endBefore = watchTransactions(stage)
  await waitForStep(stepOf(schedule, 'cut'), Date.now())
  const before = await endBefore()
  const endAfter = watchTransactions(stage)
  log(`cutting ${count} sockets`)
  const overflowsBefore = listenOverflows()
  await sockets.drop([...Array(count).keys()])
  await until('the sockets to reconnect', 45_000, async () => (await sockets.greeted()) === count).catch(() =>
    log('some sockets did not reconnect'),
  )
  await pause(2_000)
  const after = await endAfter()
  await endEmits()
  return {
    sockets: count,
    emits,
    events: await sockets.events(),
    greeted: await sockets.greeted(),
    overflows: listenOverflows() - overflowsBefore,
    transactions: { before, after },
    openSeconds,
  }
}

function judge({ sockets, emits, events, greeted, overflows, transactions, openSeconds }: Observed) {
  const figures = createVerdict()
  figures.atLeast('back', greeted, sockets)
  const returns = listReturns(events)
  figures.atLeast('cut', returns.length, sockets)
  figures.none('late', findLate(returns, marginMs))
  const backMs = returns.map(({ closedAt, backAt }) => (backAt ?? Infinity) - closedAt).sort((a, b) => a - b)
  figures.show('reconnect_ms', lagsAt(backMs))
  figures.show('dropped_syns', overflows)
  figures.show('handshake_ms', lagsAt(handshakesOf(events)))
  figures.show('reconnect_s', (backMs.at(-1) ?? 0) / 1_000)
  const hellos = events.filter(({ kind }) => kind === 'hello').map(({ at }) => at)
  figures.show('hello_peak_per_s', peakPerSecond(hellos))
  figures.show('refused', events.filter(({ kind }) => kind === 'refused').length)
  figures.show('failed', events.filter(({ kind }) => kind === 'failed').length)
  figures.atMost('pg_peak_per_s', Math.max(...transactions.after), maxPerSecond)
  figures.show('pg_before_per_s', Math.max(...transactions.before))
  figures.none('emit_refused', findRefused(emits))
  const tries = emits.flatMap(({ attempts }) => attempts)
  figures.show('emit_shed', tries.filter(({ status }) => status === 503).length)
  figures.none(
    'emit_failed',
    tries.filter(({ status }) => ![202, 503].includes(status)).map(({ status }) => String(status)),
  )
  figures.show('open_s', openSeconds)
  return figures.verdict
}

export const f18: Row = defineCommsRow<Observed>({
  id: 'F18',
  title: '10,000 sockets are cut at the same time and reconnect',
  schedule: (random) => [{ what: 'cut', target: 'every socket', atMs: Math.round(5_000 + 2_000 * random()) }],
  setup: (options) => ({
    replicas: 3,
    applications: 1,
    users: Math.ceil((options.sockets ?? bySize(options, 10_000, 2_000)) / socketsPerPerson),
  }),
  limitSeconds: 240,
  observe,
  judge,
  timeline: ({ emits, events }) =>
    emitsTimeline(
      emits,
      [{ at: events[0]?.at ?? 0, until: events[0]?.at ?? 0, name: 'every socket is cut' }],
      [{ name: 'sockets greeted', times: events.filter(({ kind }) => kind === 'hello').map(({ at }) => at) }],
    ),
  mutants: [
    refusedEmit('emit_refused'),
    mutant('a socket does not reconnect', 'back', (observed) => ({ greeted: observed.greeted - 1 })),
    lateSocket('a socket reconnects much later'),
    mutant('every socket causes separate transactions', 'pg_peak_per_s', (observed) => ({
      transactions: { ...observed.transactions, after: [maxPerSecond + 1] },
    })),
  ],
})
