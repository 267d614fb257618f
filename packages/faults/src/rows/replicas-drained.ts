// F17: all replicas are replaced one at a time behind a load balancer that uses only ready replicas. No request
// fails. Every socket is closed with 4000 and reconnects within the announced jitter, and all inboxes are
// complete.
import { pause, until } from '../children.ts'
import { emitUntilAccepted, planEmit, readInboxes } from '../comms-calls.ts'
import { runAtPace } from '../pace.ts'
import {
  type EmitHistory,
  checkAccepted,
  checkOncePerKey,
  findLate,
  findRefused,
  readStored,
  handshakesOf,
  listReturns,
} from '../comms-checkers.ts'
import { duplicateNotification, lostNotification, lostRecipient } from '../comms-mutants.ts'
import { type CommsStage, socketAt } from '../comms-stage.ts'
import { listenOverflows } from '../cpu.ts'
import { type Balancer, startBalancer } from '../haproxy.ts'
import { shuffle } from '../random.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { type Schedule, bySize, targetOf } from '../schedule.ts'
import type { SocketEvent } from '../sockets.ts'
import { emitsTimeline } from '../timelines.ts'
import { createVerdict, lagsAt, quantile } from '../verdict.ts'
import { lateSocket, mutant } from '../plant.ts'

type Observed = EmitHistory & {
  sockets: number
  /** Socket events after all sockets were opened. */
  events: SocketEvent[]
  /** Each replica's shutdown time and exit code. */
  drains: { at: number; seconds: number; exit: number | string }[]
  /** Failed calls other than emits. */
  failed: string[]
  /** Requests for which the load balancer reached no replica, and connections that it retried. */
  unconnected: number
  retried: number
  greeted: number
  /** The number of connections that the kernel dropped during the scenario, on the whole machine. */
  overflows: number
}

const replicas = 3
const socketsPerPerson = 4
const rates = { emits: 40, probes: 40 }
const recipients = 5
// Includes the time until the load balancer detects the shutdown, the handshake, and the delay that a busy machine
// causes.
const marginMs = 3_000
const drainSeconds = 30
const drainDelayMs = 2_000
const settleMs = 6_000

/**
 * Replaces the replicas one at a time, as a rolling update does. Each successor must be ready first. The next
 * replacement waits until the sockets of the previous replica have had time to reconnect.
 */
async function replaceAll(
  stage: CommsStage,
  schedule: Schedule,
  balancer: Balancer,
): Promise<Observed['drains']> {
  const drains: Observed['drains'] = []
  const first = stage.replicas.slice()
  for (const step of schedule) {
    const replica = targetOf(first, step)
    await balancer.add(await stage.startReplica())
    stage.log(`stopping ${replica.name}`)
    const start = Date.now()
    replica.signal('SIGTERM')
    const exit = await replica.exit
    drains.push({ at: start, seconds: (Date.now() - start) / 1_000, exit })
    await balancer.remove(replica)
    await pause(settleMs)
  }
  return drains
}

async function observe(stage: CommsStage, schedule: Schedule): Promise<Observed> {
  const { world, calls, sockets, random, log, cluster, folder, replicas } = stage
  const balancer = stage.registerPart(await startBalancer(folder, replicas))
  const next = (): string => balancer.url
  const [applicationId] = world.applicationIds as [string]
  const count = world.userIds.length * socketsPerPerson
  const specs = Array.from({ length: count }, (_, index) =>
    socketAt(world, {
      url: balancer.url,
      userId: world.userIds[index % world.userIds.length] as string,
      applicationId,
    }),
  )
  log(`opening ${count} sockets`)
  const overflowsBefore = listenOverflows()
  const opened = await sockets.open(specs)
  if (opened < count) throw new Error(`only ${opened} of ${count} sockets received a hello`)
  // Clears the events, because the figures are about the replacements, not about opening the sockets.
  await sockets.clear()
  const emits: Observed['emits'] = []
  const failed: string[] = []
  const stops = [
    runAtPace(rates.emits, () => {
      const emit = planEmit(world, random, recipients)
      emits.push(emit)
      return emitUntilAccepted(calls, next, emit)
    }),
    runAtPace(rates.probes, async () => {
      const userId = world.userIds[Math.floor(random() * world.userIds.length)] as string
      const { status, body } = await calls.unread(next, userId, applicationId)
      if (status !== 200) failed.push(`unread ${status} ${JSON.stringify(body)}`)
    }),
  ]
  await pause(2_000)
  const drains = await replaceAll(stage, schedule, balancer)
  await until('the sockets to reconnect', 30_000, async () => (await sockets.greeted()) === count).catch(() =>
    log('some sockets did not reconnect'),
  )
  await Promise.all(stops.map((stop) => stop()))
  const stats = await balancer.stats()
  log('reading the inboxes')
  return {
    emits,
    stored: await readStored(cluster.sql),
    inboxes: await readInboxes(calls, next, world),
    sockets: count,
    events: await sockets.events(),
    drains,
    failed,
    unconnected: stats.unconnected,
    retried: stats.retried,
    greeted: await sockets.greeted(),
    overflows: listenOverflows() - overflowsBefore,
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  const { emits, drains, events } = observed
  figures.none('accepted_lost', checkAccepted(observed))
  figures.none('dup', checkOncePerKey(observed))
  const failedTries = emits
    .flatMap(({ attempts }) => attempts)
    .filter(({ status }) => status !== 202)
    .map(({ status }) => `emit ${status}`)
  figures.none('failed', [...observed.failed, ...failedTries, ...findRefused(emits)])
  figures.atMost('unconnected', observed.unconnected, 0)
  figures.show('refused_connections', observed.retried)
  const returns = listReturns(events)
  const closed = new Set(returns.filter(({ code }) => code === 4_000).map(({ socket }) => socket))
  figures.atLeast('closed_4000', closed.size, observed.sockets)
  figures.none('closed_unexpectedly', [
    ...returns.filter(({ code }) => code !== 4_000).map(({ socket, code }) => `socket ${socket} ${code}`),
    ...events
      .filter(({ kind }) => kind === 'failed' || kind === 'refused')
      .map((event) => JSON.stringify(event)),
  ])
  figures.none('late', findLate(returns, marginMs))
  figures.atLeast('back', observed.greeted, observed.sockets)
  const backMs = returns.map(({ closedAt, backAt }) => (backAt ?? Infinity) - closedAt).sort((a, b) => a - b)
  figures.show('reconnect_p99_s', quantile(backMs, 0.99) / 1_000)
  figures.show('reconnect_ms', lagsAt(backMs))
  figures.show('dropped_syns', observed.overflows)
  figures.show('handshake_ms', lagsAt(handshakesOf(events)))
  figures.none(
    'bad_exits',
    drains.filter(({ exit }) => exit !== 0).map(({ exit }) => String(exit)),
  )
  figures.atMost('drain_s', Math.max(...drains.map(({ seconds }) => seconds)), drainSeconds)
  figures.show('emits', emits.length)
  return figures.verdict
}

export const f17: Row = defineCommsRow<Observed>({
  id: 'F17',
  title: 'SIGTERM to each of three replicas in turn, under 2,000 sockets and steady emits',
  // The replacements are sequential, so these are the earliest possible times.
  schedule: (random) =>
    shuffle(random, [...Array(replicas).keys()]).map((target, turn) => ({
      what: 'replace',
      target,
      atMs: turn * settleMs,
    })),
  setup: (options) => ({
    replicas,
    applications: 1,
    users: Math.ceil((options.sockets ?? bySize(options, 2_000, 400)) / socketsPerPerson),
    env: { SVC_SHUTDOWN_DRAIN_DELAY_MS: String(drainDelayMs) },
  }),
  limitSeconds: 240,
  observe,
  judge,
  timeline: ({ emits, events, drains }) =>
    emitsTimeline(
      emits,
      drains.map(({ at, seconds }) => ({ at, until: at + seconds * 1_000, name: 'drains' })),
      [{ name: 'sockets greeted', times: events.filter(({ kind }) => kind === 'hello').map(({ at }) => at) }],
    ),
  mutants: [
    lostNotification(),
    lostRecipient(),
    duplicateNotification(),
    mutant('a request fails', 'failed', () => ({ failed: ['POST ECONNRESET'] })),
    mutant('the load balancer reaches no replica', 'unconnected', () => ({ unconnected: 1 })),
    mutant('a socket is cut instead of closed', 'closed_unexpectedly', (observed) => {
      const index = observed.events.findIndex(({ kind }) => kind === 'closed')
      return {
        events: observed.events.map((event, at) =>
          at === index && event.kind === 'closed' ? { ...event, code: 1_006 } : event,
        ),
      }
    }),
    lateSocket('a socket reconnects after its jitter'),
    mutant('a replica exits with an error', 'bad_exits', (observed) => ({
      drains: observed.drains.map((drain) => ({ ...drain, exit: 1 })),
    })),
    mutant('a replica takes too long to exit', 'drain_s', (observed) => ({
      drains: observed.drains.map((drain) => ({ ...drain, seconds: drainSeconds + 1 })),
    })),
  ],
})
