// Everything outside the process. It is the only thing a test replaces.
import type { Config } from './config/config.ts'
import type { Clock } from './platform/clock.ts'
import { type Database, createDatabase } from './platform/db/database.ts'
import { type UserDirectory, createLocalDirectory } from './features/users/directory.store.ts'
import type { Logger } from './platform/log/log.ts'
import { createLog, droppedNotice } from './platform/log/log.ts'
import { createLogOutput } from './platform/log/log-output.ts'
import { type Metrics, createMetrics } from './platform/metrics.ts'
import { type Names, createNames } from './platform/outbound/names.ts'
import { type Redis, createRedis } from './platform/db/redis.ts'
import { version } from './version.ts'

export type World = {
  database: Database
  redis: Redis
  clock: Clock
  directory: UserDirectory
  log: Logger
  metrics: Metrics
  /** Names of upstreams. */
  names: Names
}

const directories = { local: createLocalDirectory }

/** The real world as the configuration describes it; `replace` swaps single parts in a test. */
export function createWorld(config: Config, replace: Partial<World> = {}): World {
  const metrics = replace.metrics ?? createMetrics(version)
  const log =
    replace.log ??
    createLog(
      config.logLevel,
      createLogOutput({
        onDropped: (count) => metrics.logLinesDropped.inc(count),
        noticeOf: droppedNotice,
      }),
    )
  const database =
    replace.database ??
    createDatabase({
      url: config.databaseUrl,
      poolSize: config.databasePoolSize,
      lookupPoolSize: config.databaseLookupPoolSize,
      contentPoolSize: config.databaseContentPoolSize,
      logPoolSize: config.databaseLogPoolSize,
      statementTimeoutMs: config.databaseStatementTimeoutMs,
      acquireTimeoutMs: config.databaseAcquireTimeoutMs,
      log,
    })
  return {
    log,
    metrics,
    database,
    redis:
      replace.redis ??
      createRedis({ url: config.redisUrl, keyPrefix: config.redisKeyPrefix }, { log, metrics }),
    clock: replace.clock ?? database.clock,
    names: replace.names ?? createNames(),
    directory: replace.directory ?? directories[config.userProvider](database.db),
  }
}

/** Closes everything the world holds. */
export async function closeWorld(world: World): Promise<void> {
  await world.redis.close()
  await world.database.close()
}
