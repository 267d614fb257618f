// Sends hints (best-effort messages) as if another process of the installation had sent them.
import { loadConfig } from '../../src/config/config.ts'
import { encodeHint } from '../../src/features/live-sockets/hint-message.pure.ts'
import type { Hint } from '../../src/features/live-sockets/hints.pure.ts'
import { buildLiveFrame } from '../../src/features/notifications/hint-texts.pure.ts'
import { type Channels, createChannelsFactory } from '../../src/platform/redis/channels.ts'
import { createRedis } from '../../src/platform/redis/redis.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { settings } from '../../src/settings.ts'
import { readRedisOptions } from '../../src/world.ts'
import type { TestApp } from './app.ts'
import { testEnv } from '@manager/harness/test-env.ts'

const publish = (channels: Channels, { tenantId, ...hint }: Hint): boolean =>
  channels.publish(tenantId, encodeHint({ sentAt: Date.now(), hint }))

/** Sends a hint to the sockets of the service. */
export function publishFromOtherProcess(service: TestApp, hint: Hint): void {
  const channels = service.world.channels(() => undefined)
  publish(channels, hint)
  void channels.close()
}

/** Starts a client that sends hints to the services on this database. */
export async function hintSender(databaseUrl: string) {
  const log = createLog('silent', process.stderr)
  const metrics = createMetrics('hints')
  const config = loadConfig({ env: testEnv(databaseUrl) }, settings)
  const redis = createRedis(readRedisOptions(config), { log, metrics })
  const channels = createChannelsFactory({ redis, log })(() => undefined)
  while (!redis.isUp()) await new Promise((resolve) => setTimeout(resolve, 20))
  return {
    /** Waits while the publish queue is full. */
    send: async (hint: Hint): Promise<void> => {
      while (!publish(channels, hint)) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    close: async (): Promise<void> => {
      await channels.close()
      await redis.close()
      metrics.registry.clear()
    },
  }
}

/** Returns a live hint for every user in a room. */
export const liveHint = (room: { tenantId: string; applicationId: string }, data: unknown = 1): Hint => ({
  tenantId: room.tenantId,
  applicationId: room.applicationId,
  audience: { everyone: true },
  text: buildLiveFrame({ topic: 't', data: JSON.stringify(data), publishedAt: '2026-01-01T00:00:00.000Z' }),
  mayDrop: true,
})
