// F19: some of the people who look stop reading. Their frames are dropped and they are closed; nobody else notices, and what
// they make the replica hold is bounded.
import { pause, until } from '../children.ts'
import { keepDoing } from '../pace.ts'
import { type CommsStage, socketAt } from '../comms-stage.ts'
import { cpuOf, cpuOfFamily, rssOf } from '../cpu.ts'
import type { Replica } from '../replicas.ts'
import { type Row, defineCommsRow } from '../row.ts'
import { bySize } from '../schedule.ts'
import type { SocketEvent } from '../sockets.ts'
import { createVerdict, lagsAt, quantile } from '../verdict.ts'
import { mutant } from '../plant.ts'

type Observed = {
  slow: number
  rounds: number
  /** How late hints reached those who read, in milliseconds, the least late first. */
  clean: number[]
  faulty: number[]
  /** What the replica says: closed with 4001, and frames that were dropped. */
  closed: number
  dropped: number
  /** The sockets of the slow that ended, and all others that did. */
  endedSlow: number[]
  endedOthers: number[]
  /** The most memory that the replica held with and without slow ones. */
  rss: { clean: number; faulty: number }
  /** Planned, and accepted. */
  plannedPerSecond: number
  hintsPerSecond: number
  refused: number
  closeSeconds: number
  greeted: number
  sockets: number
  /** CPU time in the phase without slow ones, as a number of cores. */
  cores: { replica: number; postgres: number; sockets: number; harness: number }
}

// Most sockets of the busy application are the slow ones. It gets few and long hints, which fill what a connection buffers
// within seconds; the other applications get many short ones, so that the tenant has 1,000 each second.
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
// On two cores a p99 of some milliseconds moves by more than that between two runs without any fault.
const slackMs = 15
// A heap moves by some tens of megabytes anyway, which counts where few are slow.
const mostMegabytes = (slow: number): number => Math.max(1, 32 / slow)

/** Publishes at both paces until it is ended; `failed` counts what was not accepted. */
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
  const ends = [
    keepDoing(busyRate, () => publish(busy, { data })),
    keepDoing(quietRateOf(stage), () => publish(quiet[turn++ % quiet.length] ?? busy, {})),
  ]
  return async () => {
    const seconds = (performance.now() - started) / 1_000
    await Promise.all(ends.map((end) => end()))
    return { perSecond: counts.accepted / seconds, refused: counts.refused }
  }
}

/** The most memory that a process holds until it is asked. */
function watchMemory({ pid }: Replica): () => number {
  let most = rssOf(pid)
  const timer = setInterval(() => (most = Math.max(most, rssOf(pid))), 250)
  return () => {
    clearInterval(timer)
    return most
  }
}

const spentBy = ({ replicas, cluster, sockets }: CommsStage): Observed['cores'] => ({
  replica: cpuOf(replicas[0]?.pid ?? 0),
  postgres: cpuOfFamily(cluster.postmasterPid),
  sockets: cpuOf(sockets.pid),
  harness: cpuOf(process.pid),
})
const coresOf = (before: Observed['cores'], after: Observed['cores']): Observed['cores'] => ({
  replica: (after.replica - before.replica) / phaseMs,
  postgres: (after.postgres - before.postgres) / phaseMs,
  sockets: (after.sockets - before.sockets) / phaseMs,
  harness: (after.harness - before.harness) / phaseMs,
})

/** All sockets, the slow ones first. */
type Opened = { count: number; slow: number[] }

async function openAll(stage: CommsStage): Promise<Opened> {
  const { world, sockets, replicas, say } = stage
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
  say(`opening ${specs.length} sockets`)
  const opened = await sockets.open(specs)
  if (opened < specs.length) throw new Error(`only ${opened} of ${specs.length} sockets have a hello`)
  return { count: specs.length, slow: [...Array(slow).keys()] }
}

/**
 * Lets the slow begin anew and read nothing after their hello. A connection that has read much is given buffers of many
 * megabytes by the kernel, which a replica would fill for a minute before it could notice anything.
 */
async function stopReading({ sockets, say }: CommsStage, slow: number[], count: number): Promise<void> {
  say(`${slow.length} of ${count} stop reading`)
  await sockets.drop(slow)
  await until('the return of the slow', returnMs, async () => (await sockets.greeted()) === count)
  await sockets.pause(slow)
  await sockets.clear()
}

type Clean = { cores: Observed['cores']; rss: number }
const most = (figures: number[]): number => Math.max(...figures)
const closedBy4001 = (replica: Replica): Promise<number> =>
  replica.metric('svc_ws_closed_total', { code: '4001' })

/** What it is like when everyone reads. */
async function observeClean(stage: CommsStage): Promise<Clean> {
  stage.say('everyone reads')
  const [endClean, memory] = [startLoad(stage, 'clean'), watchMemory(stage.replicas[0] as Replica)]
  const before = spentBy(stage)
  await pause(phaseMs)
  const cores = coresOf(before, spentBy(stage))
  await endClean()
  return { cores, rss: memory() }
}

/** The sockets that ended since the last time. */
async function endedOf({ sockets }: CommsStage): Promise<number[]> {
  const closes = (await sockets.events()).filter(({ kind }: SocketEvent) => kind === 'closed')
  return [...new Set(closes.map(({ socket }) => socket))]
}

/** What it is like when the slow do not read, until they are closed and have come back. */
async function observeFaulty(stage: CommsStage, { count, slow }: Opened, closedBefore: number) {
  const { sockets, say, replicas } = stage
  const [replica] = replicas as [Replica]
  await stopReading(stage, slow, count)
  const start = Date.now()
  const [end, memory] = [startLoad(stage, 'faulty'), watchMemory(replica)]
  const areClosed = async (): Promise<boolean> => (await closedBy4001(replica)) >= closedBefore + slow.length
  await until('the end of the slow', longestMs, areClosed).catch(() => say('not all of them are closed'))
  const closeSeconds = (Date.now() - start) / 1_000
  await pause(Math.max(0, start + phaseMs - Date.now()))
  const { perSecond, refused } = await end()
  const [closed, rss] = [await closedBy4001(replica), memory()]
  await sockets.resume(slow)
  // Those who read again find their end only behind everything that they left unread.
  const areBack = async (): Promise<boolean> =>
    (await endedOf(stage)).length >= slow.length && (await sockets.greeted()) === count
  await until('the return of all', returnMs, areBack).catch(() => say('not all of them are back'))
  return { closed, closeSeconds, perSecond, refused, rss, ended: await endedOf(stage) }
}

async function observe(stage: CommsStage): Promise<Observed> {
  const { sockets, replicas } = stage
  const opened = await openAll(stage)
  const slow = opened.slow.length
  await sockets.tally()
  const endWarmUp = startLoad(stage, 'warm-up')
  await pause(warmUpMs)
  await endWarmUp()
  // Both in turn, so that a machine that is slower for a while is so for both.
  const clean = [await observeClean(stage)]
  const faulty = [await observeFaulty(stage, opened, 0)]
  clean.push(await observeClean(stage))
  faulty.push(await observeFaulty(stage, opened, slow))
  const ended = faulty.flatMap((round) => round.ended)
  return {
    slow,
    rounds: faulty.length,
    clean: await sockets.latencies('clean', 'others'),
    faulty: await sockets.latencies('faulty', 'others'),
    closed: faulty.at(-1)?.closed ?? 0,
    dropped: await (replicas[0] as Replica).metric('svc_ws_dropped_total'),
    endedSlow: ended.filter((socket) => socket < slow),
    endedOthers: ended.filter((socket) => socket >= slow),
    rss: { clean: most(clean.map(({ rss }) => rss)), faulty: most(faulty.map(({ rss }) => rss)) },
    plannedPerSecond: busyRate + quietRateOf(stage),
    hintsPerSecond: Math.min(...faulty.map(({ perSecond }) => perSecond)),
    refused: faulty.reduce((sum, { refused }) => sum + refused, 0),
    closeSeconds: most(faulty.map(({ closeSeconds }) => closeSeconds)),
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
  figures.atLeast('closed_at_clients', observed.endedSlow.length, toClose)
  figures.none('others_closed', observed.endedOthers.map(String))
  figures.atLeast('dropped', observed.dropped, 1)
  const [cleanP99, faultyP99] = [quantile(clean, 0.99), quantile(faulty, 0.99)]
  figures.atMost('others_p99_ms', faultyP99, cleanP99 * goodRatio + slackMs)
  figures.show('p99_ratio', faultyP99 / Math.max(1, cleanP99))
  figures.show('clean_ms', lagsAt(clean))
  figures.show('faulty_ms', lagsAt(faulty))
  figures.atMost('rss_mb_per_slow', Math.max(0, rss.faulty - rss.clean) / slow, mostMegabytes(slow))
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
    // A line for every request is not the subject.
    env: { SVC_LOG_LEVEL: 'warn' },
    users: slowOf(options) + othersOfBusy,
  }),
  limitSeconds: 300,
  observe,
  judge,
  mutants: [
    mutant('a slow one is never closed', 'closed', (observed) => ({ closed: observed.closed - 1 })),
    mutant('one that reads is closed too', 'others_closed', (observed) => ({
      endedOthers: [observed.sockets - 1],
    })),
    mutant('the others wait for the slow', 'others_p99_ms', (observed) => ({
      faulty: observed.faulty.map((ms, index) => (index % 50 === 0 ? ms + 30_000 : ms)).sort((a, b) => a - b),
    })),
    mutant('what the slow do not read is kept', 'rss_mb_per_slow', (observed) => ({
      rss: { ...observed.rss, faulty: observed.rss.clean + 3 * observed.slow },
    })),
    mutant('nothing is dropped', 'dropped', () => ({ dropped: 0 })),
  ],
})
