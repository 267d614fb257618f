// Sets up a comms scenario: PostgreSQL, Redis, replicas, a tenant with users and applications, and open
// sockets.
import { type Base, type BaseSetup, type RowOptions, type Log, openBase } from './base.ts'
import { pause } from './children.ts'
import { type CommsCalls, createCommsCalls, identity } from './comms-calls.ts'
import { type CommsWorld, createCommsWorld } from './comms-world.ts'
import type { Replica } from './replicas.ts'
import { type SocketSpec, type Sockets, startSockets } from './sockets.ts'

export type CommsSetup = BaseSetup & { applications: number; users: number }
export type CommsStage = Base & { world: CommsWorld; calls: CommsCalls; sockets: Sockets }

// Rate limits apply per application, and these scenarios have only a few applications. Other tests cover the limits.
export const raisedLimits = {
  SVC_COMMS_EMIT_RATE: '10000',
  SVC_COMMS_EMIT_BURST: '10000',
  SVC_COMMS_PUBLISH_RATE: '10000',
  SVC_COMMS_PUBLISH_BURST: '10000',
}

export const openCommsStage = (setup: CommsSetup, options: RowOptions, log: Log): Promise<CommsStage> =>
  openBase(
    { ...setup, env: { ...raisedLimits, ...setup.env } },
    options,
    log,
    async ({ folder, cluster, registerPart }) => {
      const world = await createCommsWorld(cluster.sql, setup)
      const calls = registerPart(createCommsCalls(world))
      return { world, calls, sockets: registerPart(await startSockets(folder)) }
    },
  )

/** Describes a socket of this user for this application at this URL. */
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

/** Returns a function that cycles through the running replicas. */
export function roundRobin(replicas: readonly Replica[]): () => string {
  let turn = 0
  return () => {
    const running = replicas.filter((replica) => replica.isAlive())
    return running[turn++ % running.length]?.url ?? 'http://127.0.0.1:1'
  }
}

/** Status of the readiness probe's response. It is 0 if no response arrived. */
export type ReadinessSample = { replica: string; at: number; status: number }

/** Probes the readiness of every replica until the returned function is called. */
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
      await pause(readinessIntervalMs)
    }
  }
  const watching = Promise.all(replicas.map(watch))
  return async () => {
    ending.abort()
    await watching
    return samples
  }
}
const readinessIntervalMs = 100
