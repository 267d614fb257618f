// F19: some clients stop reading from their sockets. Their frames are dropped and the sockets are closed. Other clients
// are not affected, and the memory that slow clients use in the replica is bounded.
import { pause, until } from '../children.ts'
import { runAtPace } from '../pace.ts'
import { type CommsStage, socketAt } from '../comms-stage.ts'
import { cpuOf, cpuOfProcessTree, rssOf } from '../cpu.ts'
import type { Replica } from '../replicas.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { bySize } from '../schedule.ts'
import type { SocketEvent } from '../sockets.ts'
import { createVerdict, lagsAt, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

type Observed = {
  slow: number
  rounds: number
  /** Latencies of hints to clients that read, in milliseconds and ascending order. */
  clean: number[]
  faulty: number[]
  /** Metrics of the replica: the number of sockets closed with 4001, and the number of dropped frames. */
  closed: number
  dropped: number
  /** Closed sockets of slow clients, and of other clients. */
  closedSlow: number[]
  closedOthers: number[]
  /** The replica's maximum memory without and with slow clients. */
  rss: { clean: number; faulty: number }
  /** Planned and accepted hints per second. */
  plannedPerSecond: number
  hintsPerSecond: number
  refused: number
  closeSeconds: number
  greeted: number
  sockets: number
  /** CPU time during the phase without slow clients, as a number of cores. */
  cores: { replica: number; postgres: number; sockets: number; harness: number }
}

// Most sockets of the busy application are slow. The application receives few long hints, which fill the
// buffers of a connection within seconds. The other applications receive many short hints, so that the tenant
// has 1,000 hints per second.
const busyHintBytes = 8_000
const busyRate = 50
const perQuietApplication = 10
const othersOfBusy = 10
const socketsOf = (options: CommsStage['options']): number => options.sockets ?? bySize(options, 2_000, 400)
const slowOf = (options: CommsStage['options']): number => Math.ceil(socketsOf(options) / 20)
const quietRateOf = ({ options }: Pick<CommsStage, 'options'>): number => (950 * socketsOf(options)) / 2_000
const [warmUpMs, phaseMs, longestMs] = [10_000, 15_000, 34_000]
const returnMs = 30_000
const goodRatio = 1.2
// On two cores, a p99 of a few milliseconds can vary by more than this ratio between two runs without a fault.
const slackMs = 15
// The heap always varies by tens of megabytes, which is significant if there are few slow clients.
const maxMegabytes = (slow: number): number => Math.max(1, 32 / slow)

/**
 * Publishes at a slow and a fast rate until the returned function is called. That function returns the counts, with
 * rejected publishes in `refused`.
 */
function startLoad(stage: CommsStage, phase: string) {
  const { calls, world, replicas } = stage
  const [busy, ...quiet] = world.applicationIds as [string, ...string[]]
  const data = 'x'.repeat(busyHintBytes)
  const started = performance.now()
  const counts = { sent: 0, accepted: 0, refused: 0 }
  const url = (): string => replicas[0]?.url ?? ''
  const publish = async (applicationId: string, extra: { data?: string }): Promise<void> => {
    const key = `${phase} ${counts.sent++} ${performance.timeOrigin + performance.now()}`
    const { status } = await calls.publish(url, { key, applicationId, ...extra })
    if (status === 202) counts.accepted++
    else counts.refused++
  }
  let turn = 0
  const stops = [
    runAtPace(busyRate, () => publish(busy, { data })),
    runAtPace(quietRateOf(stage), () => publish(quiet[turn++ % quiet.length] ?? busy, {})),
  ]
  return async () => {
    const seconds = (performance.now() - started) / 1_000
    await Promise.all(stops.map((stop) => stop()))
    return { perSecond: counts.accepted / seconds, refused: counts.refused }
  }
}

/** Tracks the maximum memory of a process until the returned function is called. */
function watchMemory({ pid }: Replica): () => number {
  let max = rssOf(pid)
  const timer = setInterval(() => (max = Math.max(max, rssOf(pid))), 250)
  return () => {
    clearInterval(timer)
    return max
  }
}

const spentBy = ({ replicas, cluster, sockets }: CommsStage): Observed['cores'] => ({
  replica: cpuOf(replicas[0]?.pid ?? 0),
  postgres: cpuOfProcessTree(cluster.postmasterPid),
  sockets: cpuOf(sockets.pid),
  harness: cpuOf(process.pid),
})
const coresOf = (before: Observed['cores'], after: Observed['cores']): Observed['cores'] => ({
  replica: (after.replica - before.replica) / phaseMs,
  postgres: (after.postgres - before.postgres) / phaseMs,
  sockets: (after.sockets - before.sockets) / phaseMs,
  harness: (after.harness - before.harness) / phaseMs,
})

/** All sockets, with the slow sockets first. */
type Opened = { count: number; slow: number[] }

async function openAll(stage: CommsStage): Promise<Opened> {
  const { world, sockets, replicas, log } = stage
  const [busy, ...quiet] = world.applicationIds as [string, ...string[]]
  const url = replicas[0]?.url ?? ''
  const slow = slowOf(stage.options)
  const specs = [
    ...world.userIds.map((userId, index) =>
      socketAt(world, { url, userId, applicationId: busy, group: index < slow ? 'slow' : 'others' }),
    ),
    ...quiet.flatMap((applicationId) =>
      world.userIds
        .slice(0, perQuietApplication)
        .map((userId) => socketAt(world, { url, userId, applicationId, group: 'others' })),
    ),
  ]
  log(`opening ${specs.length} sockets`)
  const opened = await sockets.open(specs)
  if (opened < specs.length) throw new Error(`only ${opened} of ${specs.length} sockets received a hello`)
  return { count: specs.length, slow: [...Array(slow).keys()] }
}

/**
 * Reconnects the slow clients, which stop reading after their hello. After a connection has read a lot of
 * data, the kernel enlarges its buffers to many megabytes. A replica would need 1 minute to fill these
 * buffers and could not detect a slow client before that.
 */
async function pauseReading({ sockets, log }: CommsStage, slow: number[], count: number): Promise<void> {
  log(`${slow.length} of ${count} clients stop reading`)
  await sockets.drop(slow)
  await until('the slow clients to reconnect', returnMs, async () => (await sockets.greeted()) === count)
  await sockets.pause(slow)
  await sockets.clear()
}

type Clean = { cores: Observed['cores']; rss: number }
const maxOf = (figures: number[]): number => Math.max(...figures)
const closedBy4001 = (replica: Replica): Promise<number> =>
  replica.metric('svc_ws_closed_total', { code: '4001' })

/** Measures the phase in which all clients read. */
async function observeClean(stage: CommsStage): Promise<Clean> {
  stage.log('all clients read')
  const [endClean, memory] = [startLoad(stage, 'clean'), watchMemory(stage.replicas[0] as Replica)]
  const before = spentBy(stage)
  await pause(phaseMs)
  const cores = coresOf(before, spentBy(stage))
  await endClean()
  return { cores, rss: memory() }
}

/** Returns the sockets that were closed since the last `clear`. */
async function closedSockets({ sockets }: CommsStage): Promise<number[]> {
  const closes = (await sockets.events()).filter(({ kind }: SocketEvent) => kind === 'closed')
  return [...new Set(closes.map(({ socket }) => socket))]
}

/** Measures the phase in which slow clients do not read. It lasts until they have been closed and have reconnected. */
async function observeFaulty(stage: CommsStage, { count, slow }: Opened, closedBefore: number) {
  const { sockets, log, replicas } = stage
  const [replica] = replicas as [Replica]
  await pauseReading(stage, slow, count)
  const start = Date.now()
  const [end, memory] = [startLoad(stage, 'faulty'), watchMemory(replica)]
  const areClosed = async (): Promise<boolean> => (await closedBy4001(replica)) >= closedBefore + slow.length
  await until('the slow sockets to be closed', longestMs, areClosed).catch(() =>
    log('not all slow sockets are closed'),
  )
  const closeSeconds = (Date.now() - start) / 1_000
  await pause(Math.max(0, start + phaseMs - Date.now()))
  const { perSecond, refused } = await end()
  const [closed, rss] = [await closedBy4001(replica), memory()]
  await sockets.resume(slow)
  // A client that reads again receives the close frame only after all unread data.
  const areBack = async (): Promise<boolean> =>
    (await closedSockets(stage)).length >= slow.length && (await sockets.greeted()) === count
  await until('all clients to reconnect', returnMs, areBack).catch(() => log('not all clients reconnected'))
  return { closed, closeSeconds, perSecond, refused, rss, closedIndexes: await closedSockets(stage) }
}

async function observe(stage: CommsStage): Promise<Observed> {
  const { sockets, replicas } = stage
  const opened = await openAll(stage)
  const slow = opened.slow.length
  await sockets.tally()
  const endWarmUp = startLoad(stage, 'warm-up')
  await pause(warmUpMs)
  await endWarmUp()
  // The phases alternate, so that a temporary slowdown of the machine affects both.
  const clean = [await observeClean(stage)]
  const faulty = [await observeFaulty(stage, opened, 0)]
  clean.push(await observeClean(stage))
  faulty.push(await observeFaulty(stage, opened, slow))
  const closedIndexes = faulty.flatMap((round) => round.closedIndexes)
  return {
    slow,
    rounds: faulty.length,
    clean: await sockets.latencies('clean', 'others'),
    faulty: await sockets.latencies('faulty', 'others'),
    closed: faulty.at(-1)?.closed ?? 0,
    dropped: await (replicas[0] as Replica).metric('svc_ws_dropped_total'),
    closedSlow: closedIndexes.filter((socket) => socket < slow),
    closedOthers: closedIndexes.filter((socket) => socket >= slow),
    rss: { clean: maxOf(clean.map(({ rss }) => rss)), faulty: maxOf(faulty.map(({ rss }) => rss)) },
    plannedPerSecond: busyRate + quietRateOf(stage),
    hintsPerSecond: Math.min(...faulty.map(({ perSecond }) => perSecond)),
    refused: faulty.reduce((sum, { refused }) => sum + refused, 0),
    closeSeconds: maxOf(faulty.map(({ closeSeconds }) => closeSeconds)),
    greeted: await sockets.greeted(),
    sockets: opened.count,
    cores: (clean[0] as Clean).cores,
  }
}

function judge(observed: Observed) {
  const figures = createVerdict()
  const { slow, clean, faulty, closed, rss } = observed
  const toClose = slow * observed.rounds
  figures.atLeast('closed', closed, toClose)
  figures.atMost('closed_too_often', closed, toClose)
  figures.atLeast('closed_at_clients', observed.closedSlow.length, toClose)
  figures.none('others_closed', observed.closedOthers.map(String))
  figures.atLeast('dropped', observed.dropped, 1)
  const [cleanP99, faultyP99] = [quantile(clean, 0.99), quantile(faulty, 0.99)]
  figures.atMost('others_p99_ms', faultyP99, cleanP99 * goodRatio + slackMs)
  figures.show('p99_ratio', faultyP99 / Math.max(1, cleanP99))
  figures.show('clean_ms', lagsAt(clean))
  figures.show('faulty_ms', lagsAt(faulty))
  figures.atMost('rss_mb_per_slow', Math.max(0, rss.faulty - rss.clean) / slow, maxMegabytes(slow))
  figures.show('rss_mb', `${Math.round(rss.clean)}/${Math.round(rss.faulty)}`)
  figures.atLeast('hints_per_s', observed.hintsPerSecond, 0.9 * observed.plannedPerSecond)
  figures.atMost('publish_refused', observed.refused, 0)
  figures.show('close_s', observed.closeSeconds)
  figures.atLeast('back', observed.greeted, observed.sockets)
  figures.show('deliveries', faulty.length)
  for (const [who, cores] of Object.entries(observed.cores)) figures.show(`cores_${who}`, cores)
  return figures.verdict
}

export const f19: Row = defineCommsRow<Observed>({
  id: 'F19',
  title: '100 of 2,000 sockets stop reading under 1,000 hints per second in their tenant',
  setup: (options) => ({
    replicas: 1,
    applications: 1 + Math.ceil((socketsOf(options) - slowOf(options) - othersOfBusy) / perQuietApplication),
    // A log line for every request would distort the measurement.
    env: { SVC_LOG_LEVEL: 'warn' },
    users: slowOf(options) + othersOfBusy,
  }),
  limitSeconds: 300,
  observe,
  judge,
  mutants: [
    mutant('a slow socket is never closed', 'closed', (observed) => ({ closed: observed.closed - 1 })),
    mutant('a reading socket is closed', 'others_closed', (observed) => ({
      closedOthers: [observed.sockets - 1],
    })),
    mutant('other clients wait for slow clients', 'others_p99_ms', (observed) => ({
      faulty: observed.faulty.map((ms, index) => (index % 50 === 0 ? ms + 30_000 : ms)).sort((a, b) => a - b),
    })),
    mutant('unread frames are kept in memory', 'rss_mb_per_slow', (observed) => ({
      rss: { ...observed.rss, faulty: observed.rss.clean + 3 * observed.slow },
    })),
    mutant('nothing is dropped', 'dropped', () => ({ dropped: 0 })),
  ],
})
