// Steady emits and publishes with sockets on every replica: what rows do in which Redis is harmed.
import { type CommsCalls, planEmit, tryEmit } from './comms-calls.ts'
import { keepDoing } from './pace.ts'
import type { Emit, SentHint } from './comms-checkers.ts'
import { type CommsStage, socketAt } from './comms-stage.ts'
import type { CommsWorld } from './comms-world.ts'
import { areReady, staysSame, waitQuietly } from './quiet.ts'

/** A socket: whose it is, what for, and which replica holds it. */
export type Place = { replica: number; userId: string; applicationId: string }

/** One socket for each of the people and applications at every replica. */
export async function openEverywhere(
  stage: CommsStage,
  { userIds, applicationIds }: Pick<CommsWorld, 'userIds' | 'applicationIds'>,
): Promise<Place[]> {
  const { world, replicas, sockets } = stage
  const places = replicas.flatMap((_, replica) =>
    userIds.flatMap((userId) => applicationIds.map((applicationId) => ({ replica, userId, applicationId }))),
  )
  const greeted = await sockets.open(
    places.map((place) => socketAt(world, { ...place, url: replicas[place.replica]?.url ?? '' })),
  )
  if (greeted < places.length) throw new Error(`only ${greeted} of ${places.length} sockets have a hello`)
  return places
}

type Published = { key: string; status: number }
export type HintRecord = { emits: Emit[]; published: Published[]; sent: SentHint[] }

/**
 * Emits to two people and publishes to all, at every replica in turn, until it is ended, and then says what was sent;
 * nothing is tried again.
 */
export function startHintLoad(
  { world: all, calls, replicas, random }: CommsStage,
  places: readonly Place[],
  rates: { emits: number; publishes: number },
): () => Promise<HintRecord> {
  const [userIds, applicationIds] = [
    [...new Set(places.map(({ userId }) => userId))],
    [...new Set(places.map(({ applicationId }) => applicationId))],
  ]
  const world = { ...all, userIds, applicationIds }
  const record: HintRecord = { emits: [], published: [], sent: [] }
  const socketsFor = (isFor: (place: Place) => boolean): number[] =>
    places.flatMap((place, socket) => (isFor(place) ? [socket] : []))
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
      socketsFor((place) => place.applicationId === applicationId && recipients.includes(place.userId)),
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
      socketsFor((place) => place.applicationId === applicationId),
    )
    const { status } = await calls.publish(() => replicas[replica]?.url ?? '', { key, applicationId })
    record.published.push({ key, status })
  }
  const ends = [keepDoing(rates.emits, emitOne), keepDoing(rates.publishes, publishOne)]
  return async () => {
    await Promise.all(ends.map((end) => end()))
    return record
  }
}

// A hint takes some milliseconds.
const stillMs = 1_000

/** Waits until no more hints arrive and every replica is ready. */
export function drainHints(stage: CommsStage): Promise<number | null> {
  const isStill = staysSame(async () => (await stage.sockets.arrivals()).length, stillMs)
  return waitQuietly(stage, {
    what: 'the last hints arrive',
    ms: 15_000,
    holds: async () => (await isStill()) && (await areReady(stage)),
  })
}

/** The sum of a counter over all replicas. */
export const sumOf = async (stage: CommsStage, metric: string): Promise<number> =>
  (await Promise.all(stage.replicas.map((replica) => replica.metric(metric)))).reduce((a, b) => a + b, 0)

export type Flood = {
  accepted: number
  limited: number
  withoutRetryAfter: number
  other: number
  ms: number
}

/** So many publishes at once at one replica for one application: what its limit lets through. */
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
