// Entry point of the service (`npm start`): loads the configuration, starts the configured roles and handles signals.
import type { AddressInfo, Server } from 'node:net'
import { createApp } from './app.ts'
import { ConfigError, type Config, loadConfig, createProcessSource } from './config/config.ts'
import { platformSettings } from './config/settings.ts'
import { findConfigWarnings } from './config/warnings.ts'
import { openDatabase } from './open-database.ts'
import { parseDatabaseAddress } from './platform/engine-addresses.ts'
import { createHealthServer } from './platform/http/health-server.ts'
import type { Logger } from './platform/log/log.ts'
import { startBackgroundWork } from './platform/jobs/start.ts'
import { settings } from './settings.ts'
import { version } from './version.ts'
import { closeWorld, createWorld } from './world.ts'

async function start(config: Config): Promise<void> {
  const { label: database } = parseDatabaseAddress(config.databaseUrl)
  const world = createWorld(config)
  const { log } = world
  for (const warning of findConfigWarnings(config, settings)) log.warn(warning)
  const retiredKeys = await openDatabase(config, world)
  const app = await createApp(config, world, { retiredKeys })
  const health = createHealthServer(app.readiness, world.metrics)
  const healthListening = new Promise<void>((resolve, reject) => {
    health.once('error', reject)
    health.listen(config.healthPort, config.healthHost, resolve)
  })
  await healthListening.catch(explainPortConflict(platformSettings.healthPort))
  // For `localhost`, Fastify would open a second server on ::1, which the connection limits do not cover.
  const host = config.host === 'localhost' ? '127.0.0.1' : config.host
  await app.server.listen({ host, port: config.port }).catch(explainPortConflict(platformSettings.port))
  const stopBackgroundWork = startBackgroundWork(app, config.roles)
  const ports = { port: getPort(app.server.server), health_port: getPort(health) }
  log.info({ version, env: config.env, roles: config.roles, database, ...ports }, 'manager is ready')

  const stop = async (): Promise<void> => {
    // The proxy sees 503 on /readyz and stops sending requests. Until then, the service handles requests as
    // usual.
    app.readiness.startDraining()
    // Jobs that are still running after this time return to the queue, 5 s before the process is stopped.
    const graceMs = Math.max(0, config.drainDelayMs + config.shutdownTimeoutMs - 5_000)
    const backgroundStopped = stopBackgroundWork(graceMs).catch((error: unknown) =>
      log.error({ err: error }, 'background work did not stop cleanly'),
    )
    log.info({ drain_delay_ms: config.drainDelayMs }, 'draining')
    await new Promise((resolve) => setTimeout(resolve, config.drainDelayMs))
    const exitTimer = setTimeout(
      () => void exit(log, 1, 'shutdown timed out with requests in flight'),
      config.shutdownTimeoutMs,
    )
    exitTimer.unref()
    await app.server.close()
    await backgroundStopped
    health.close()
    health.closeAllConnections()
    await app.readiness.close()
    await closeWorld(world)
    await exit(log, 0, 'stopped')
  }
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (isStopping) return void exit(log, 1, 'stopped by a second signal')
      isStopping = true
      stop().catch((error: unknown) => {
        log.fatal({ err: error }, 'shutdown failed')
        return exit(log, 1, 'stopped')
      })
    })
}

/** Names the responsible setting in the error if a port is already in use. */
const explainPortConflict =
  ({ env, key }: { env: string; key: string }) =>
  (cause: NodeJS.ErrnoException & { port?: number; address?: string }): never => {
    if (cause.code !== 'EADDRINUSE') throw cause
    throw new Error(
      `port ${cause.port} on ${cause.address} is already in use; set ${env} (${key}) to another port`,
      { cause },
    )
  }

const getPort = (server: Server): number => (server.address() as AddressInfo).port

/**
 * Waits until the last log lines are written, up to a time limit: the process that reads the log may have exited or
 * paused.
 */
async function exit(log: Logger, code: number, message: string): Promise<never> {
  log.info(message)
  await new Promise<void>((resolve) => log.flush(() => resolve()))
  process.exit(code)
}

try {
  await start(loadConfig(createProcessSource(), settings))
} catch (error) {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : `start failed: ${(error as Error).message}`}\n`,
  )
  process.exit(1)
}
