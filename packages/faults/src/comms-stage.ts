// What a row about comms runs on: engines, replicas, a tenant with people and applications, and people who look.
import { type Base, type BaseSetup, type RowOptions, type Say, openBase } from './base.ts'
import { pause } from './children.ts'
import { type CommsCalls, createCommsCalls, identity } from './comms-calls.ts'
import { type CommsWorld, createCommsWorld } from './comms-world.ts'
import type { Replica } from './replicas.ts'
import { type SocketSpec, type Sockets, startSockets } from './sockets.ts'

export type CommsSetup = BaseSetup & { applications: number; users: number }
export type CommsStage = Base & { world: CommsWorld; calls: CommsCalls; sockets: Sockets }

// Limits are per application and these rows have few; what is limited is shown where it is the subject.
export const raisedLimits = {
  SVC_COMMS_EMIT_RATE: '10000',
  SVC_COMMS_EMIT_BURST: '10000',
  SVC_COMMS_PUBLISH_RATE: '10000',
  SVC_COMMS_PUBLISH_BURST: '10000',
}

/** Starts all of it. */
export const openCommsStage = (setup: CommsSetup, options: RowOptions, say: Say): Promise<CommsStage> =>
  openBase(
    { ...setup, env: { ...raisedLimits, ...setup.env } },
    options,
    say,
    async ({ folder, cluster, ends }) => {
      const world = await createCommsWorld(cluster.sql, setup)
      const calls = ends(createCommsCalls(world))
      return { world, calls, sockets: ends(await startSockets(folder)) }
    },
  )

/** A socket of this person for this application at this address. */
export const socketAt = (
  { tenantId }: CommsWorld,
  {
    url,
    userId,
    applicationId,
    group = 'all',
  }: { url: string; userId: string; applicationId: string; group?: string },
): SocketSpec => ({
  url: `${url.replace(/^http/, 'ws')}/api/proxy/comms/${applicationId}/ws`,
  headers: identity(userId, tenantId),
  group,
})

/** The replicas that live, one after the other. */
export function inTurn(replicas: readonly Replica[]): () => string {
  let turn = 0
  return () => {
    const living = replicas.filter((replica) => replica.isAlive())
    return living[turn++ % living.length]?.url ?? 'http://127.0.0.1:1'
  }
}

/** What a replica answered when it was asked whether it is ready; 0 for no answer. */
export type ReadinessSample = { replica: string; at: number; status: number }

/** Asks every replica over and over until told to end. */
export function watchReadiness(replicas: readonly Replica[]): () => Promise<ReadinessSample[]> {
  const samples: ReadinessSample[] = []
  const ending = new AbortController()
  const watch = async ({ name, readyUrl }: Replica): Promise<void> => {
    while (!ending.signal.aborted) {
      const status = await fetch(readyUrl, { signal: AbortSignal.timeout(5_000) }).then(
        async (response) => (await response.text(), response.status),
        () => 0,
      )
      samples.push({ replica: name, at: Date.now(), status })
      await pause(readinessEveryMs)
    }
  }
  const watching = Promise.all(replicas.map(watch))
  return async () => {
    ending.abort()
    await watching
    return samples
  }
}
const readinessEveryMs = 100
