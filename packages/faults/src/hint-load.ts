// The load for the scenarios that break Redis: a steady rate of emits and publishes, with sockets at every replica.
// Hints are best-effort messages.
import { type CommsCalls, planEmit, tryEmit } from './comms-calls.ts'
import { runAtPace } from './pace.ts'
import type { Emit, SentHint } from './comms-checkers.ts'
import { type CommsStage, socketAt } from './comms-stage.ts'
import type { CommsWorld } from './comms-world.ts'
import { areReady, staysSame, waitQuietly } from './quiet.ts'

/** A socket's replica, user and application. */
export type SocketOwner = { replica: number; userId: string; applicationId: string }

/** Opens one socket for each user and application at every replica. */
export async function openSockets(
  stage: CommsStage,
  { userIds, applicationIds }: Pick<CommsWorld, 'userIds' | 'applicationIds'>,
): Promise<SocketOwner[]> {
  const { world, replicas, sockets } = stage
  const owners = replicas.flatMap((_, replica) =>
    userIds.flatMap((userId) => applicationIds.map((applicationId) => ({ replica, userId, applicationId }))),
  )
  const greeted = await sockets.open(
    owners.map((owner) => socketAt(world, { ...owner, url: replicas[owner.replica]?.url ?? '' })),
  )
  if (greeted < owners.length) throw new Error(`only ${greeted} of ${owners.length} sockets received a hello`)
  return owners
}

type Published = { key: string; status: number }
export type HintRecord = { emits: Emit[]; published: Published[]; sent: SentHint[] }

/**
 * Emits to two users and publishes to all users, at the replicas in rotation. The returned function stops the
 * load and resolves to the record. Calls are not retried.
 */
export function startHintLoad(
  { world: all, calls, replicas, random }: CommsStage,
  owners: readonly SocketOwner[],
  rates: { emits: number; publishes: number },
): () => Promise<HintRecord> {
  const [userIds, applicationIds] = [
    [...new Set(owners.map(({ userId }) => userId))],
    [...new Set(owners.map(({ applicationId }) => applicationId))],
  ]
  const world = { ...all, userIds, applicationIds }
  const record: HintRecord = { emits: [], published: [], sent: [] }
  const socketsFor = (isRecipient: (owner: SocketOwner) => boolean): number[] =>
    owners.flatMap((owner, socket) => (isRecipient(owner) ? [socket] : []))
  const send = (key: string, replica: number, sockets: number[]): void =>
    void record.sent.push({ key, at: Date.now(), replica, sockets })
  let turn = 0
  const emitOne = async (): Promise<void> => {
    const replica = turn++ % replicas.length
    const emit = planEmit(world, random, 2)
    const { applicationId, recipients } = emit
    record.emits.push(emit)
    send(
      emit.key,
      replica,
      socketsFor((owner) => owner.applicationId === applicationId && recipients.includes(owner.userId)),
    )
    await tryEmit(calls, () => replicas[replica]?.url ?? '', emit)
  }
  const publishOne = async (): Promise<void> => {
    const replica = turn++ % replicas.length
    const applicationId = applicationIds[turn % applicationIds.length] as string
    const key = `live ${turn} ${Date.now()}`
    send(
      key,
      replica,
      socketsFor((owner) => owner.applicationId === applicationId),
    )
    const { status } = await calls.publish(() => replicas[replica]?.url ?? '', { key, applicationId })
    record.published.push({ key, status })
  }
  const stops = [runAtPace(rates.emits, emitOne), runAtPace(rates.publishes, publishOne)]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
    return record
  }
}

// Hints arrive within milliseconds. If no hint has arrived for this time, none is in flight.
const stillMs = 1_000

/**
 * Waits until hints stop arriving and every replica is ready. Resolves to the elapsed seconds, or to null after 15 s.
 */
export function drainHints(stage: CommsStage): Promise<number | null> {
  const isStill = staysSame(async () => (await stage.sockets.arrivals()).length, stillMs)
  return waitQuietly(stage, {
    what: 'the last hints',
    ms: 15_000,
    holds: async () => (await isStill()) && (await areReady(stage)),
  })
}

/** Returns the sum of a counter over all replicas. */
export const sumOf = async (stage: CommsStage, metric: string): Promise<number> =>
  (await Promise.all(stage.replicas.map((replica) => replica.metric(metric)))).reduce((a, b) => a + b, 0)

export type Flood = {
  accepted: number
  limited: number
  withoutRetryAfter: number
  other: number
  ms: number
}

/** Sends `count` concurrent publishes of one application to one replica, to measure how many its limit accepts. */
export async function flood(
  calls: CommsCalls,
  { url, applicationId, count }: { url: string; applicationId: string; count: number },
): Promise<Flood> {
  const start = Date.now()
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      calls.publish(() => url, { key: `flood ${index} ${start}`, applicationId }),
    ),
  )
  const limited = answers.filter(({ status }) => status === 429)
  const accepted = answers.filter(({ status }) => status === 202).length
  return {
    accepted,
    limited: limited.length,
    withoutRetryAfter: limited.filter(({ retryAfterMs }) => retryAfterMs === 0).length,
    other: count - accepted - limited.length,
    ms: Date.now() - start,
  }
}
