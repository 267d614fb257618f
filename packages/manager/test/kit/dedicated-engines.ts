// Starts a service, its health server, and separate PostgreSQL and Redis servers that a test may stop.
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { migrateUp } from '../../src/platform/postgres/migrate.ts'
import { createHealthServer } from '../../src/platform/http/health-server.ts'
import { freePort, startPostgres } from '@manager/harness/engines/postgres.ts'
import { type RedisServer, startRedis } from '@manager/harness/engines/redis.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { startTestApp } from './app.ts'

/** Starts the service and both servers. Pass the currently running Redis to `close`. */
export async function startWithDedicatedEngines() {
  const dir = mkdtempSync(`${tmpdir()}/manager-health-`)
  const postgres = startPostgres(dir, await freePort())
  const redis = await startRedis(await freePort())
  await migrateUp(postgres.url, () => undefined)
  const database = { url: postgres.url, name: 'postgres', drop: () => Promise.resolve() }
  const service = await startTestApp({ database, env: { SVC_REDIS_URL: redis.url } })
  const healthServer = createHealthServer(service.app.readiness, service.world.metrics)
  await new Promise<void>((resolve) => healthServer.listen(0, '127.0.0.1', resolve))
  const healthUrl = `http://127.0.0.1:${(healthServer.address() as AddressInfo).port}`
  const close = async (running: RedisServer): Promise<void> => {
    healthServer.close()
    healthServer.closeAllConnections()
    await service.close()
    await running.stop()
    postgres.stop('immediate')
    rmSync(dir, { recursive: true, force: true })
  }
  return { postgres, redis, service, healthUrl, close }
}

type Answer = { status: number; body: Record<string, unknown> }
export async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(url, { headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
export const proxyHeaders = { 'x-proxy-auth': proxySecret }
