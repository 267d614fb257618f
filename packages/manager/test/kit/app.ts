// Starts the service for tests: a real server on loopback with its own PostgreSQL database and a real Redis.
import { Writable } from 'node:stream'
import type { AddressInfo } from 'node:net'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type GraphqlAnswer, postQuery } from '@manager/harness/graphql.ts'
import { isLoadTest, longTimeoutEnv, testEnv } from '@manager/harness/test-env.ts'
import { Pool } from 'pg'
import { type App, createApp } from '../../src/app.ts'
import { settings } from '../../src/settings.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { createDatabase } from '../../src/platform/postgres/database.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { createChannelsFactory } from '../../src/platform/redis/channels.ts'
import { createRedis } from '../../src/platform/redis/redis.ts'
import type { TransportOptions } from '../../src/transport.ts'
import { version } from '../../src/version.ts'
import { type World, closeWorld, createWorld, readRedisOptions } from '../../src/world.ts'
import { compareResponses } from './response-comparison.ts'
import { type TestDatabase, createScratchDatabase } from './databases.ts'

export type TestApp = {
  app: App
  config: Config
  world: World
  database: TestDatabase
  url: string
  /** A superuser connection, to inspect the database or tamper with it. */
  sql: Pool
  /** Every log line written so far, parsed. */
  logLines: Record<string, unknown>[]
  /** SQL statements that the service has run since the list was last cleared. */
  statements: string[]
  /** Runs a GraphQL operation as a person whom the proxy has authenticated. */
  query(person: Person, text: string, variables?: Record<string, unknown>): Promise<GraphqlAnswer>
  close(): Promise<void>
}

export type TestAppOptions = {
  env?: Record<string, string | undefined>
  world?: Partial<World>
  transport?: TransportOptions
  database?: TestDatabase
  /** Use the hashing cost and the timeouts of production. Load tests always use them. */
  limits?: 'production'
  /** Wait for a slow Redis even in load tests, so that limits never fall back to the counters of one process. */
  waitsForRedis?: boolean
}

// Most tests do not use the console, so the default is a folder that does not exist.
const noFolder = '/nonexistent'
const timeouts = { pingMs: 30_000, commandMs: 30_000 }
const subscribeMs = 30_000
const fastLimits = { iterations: 1_000, loopDelayMs: () => 0 }

/**
 * Starts the service. `close` stops it, drops its database, and throws if a response did not match the API document.
 */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await createScratchDatabase())
  const { url, undeclared, ...rest } = await start(options, database)
  const service: TestApp = {
    ...rest,
    database,
    url,
    sql: new Pool({ connectionString: database.url, max: 2 }),
    query: (person, text, variables) => postQuery(url, headersOf(person), text, variables),
    close: async () => {
      const { app, world, sql } = service
      await app.server.close()
      await app.readiness.close()
      await closeWorld(world)
      await sql.end()
      world.metrics.registry.clear()
      dropReferences(service)
      if (options.database === undefined) await database.drop()
      if (undeclared.size > 0)
        throw new Error(`responses that deviate from the API document:\n${[...undeclared].join('\n')}`)
    },
  }
  return service
}

/**
 * Drops the references to a stopped service. Test files share a process, and a service is too large to keep in memory.
 */
export const dropReferences = (service: TestApp): void =>
  void Object.assign(service, { app: null, world: null, sql: null })

async function start(options: TestAppOptions, database: TestDatabase) {
  const isPatient = !isLoadTest && options.limits !== 'production'
  const waitsForRedis = isPatient || options.waitsForRedis === true
  const env = { ...(isPatient ? longTimeoutEnv : {}), ...options.env }
  const config = loadConfig({ env: testEnv(database.url, env) }, settings)
  const logLines: Record<string, unknown>[] = []
  const statements: string[] = []
  const log = createLog('info', lineCollector(logLines))
  const metrics = options.world?.metrics ?? createMetrics(version)
  const counted = createDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    lookupPoolSize: config.databaseLookupPoolSize,
    reportPoolSize: config.databaseReportPoolSize,
    statementTimeoutMs: config.databaseStatementTimeoutMs,
    acquireTimeoutMs: config.databaseAcquireTimeoutMs,
    maxWaiting: config.databaseMaxWaiting,
    onRefused: () => metrics.shed.inc({ point: 'db_pool' }),
    log,
    onStatement: (sql) => statements.push(sql),
    onStatementTime: metrics.observeStatement,
    onRetry: (kind) => metrics.dbRetries.inc({ kind }),
  })
  const redis =
    options.world?.redis ??
    createRedis({ ...readRedisOptions(config), ...(waitsForRedis ? { timeouts } : {}) }, { log, metrics })
  const channels = createChannelsFactory({ redis, log, ...(isPatient ? { subscribeMs } : {}) })
  const substitutes = { log, database: counted, channels, consoleFolder: noFolder, ...options.world }
  const world = createWorld(config, { ...substitutes, metrics, redis })
  let undeclared: ReadonlySet<string> = new Set()
  const app: App = await createApp(config, world, {
    ...(isPatient ? fastLimits : {}),
    ...options.transport,
    extend: (server) => {
      options.transport?.extend?.(server)
      undeclared = compareResponses(server, () => app.routes)
    },
  })
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`
  return { app, world, config, logLines, statements, url, undeclared }
}

export function lineCollector(lines: Record<string, unknown>[]): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString('utf8').split('\n').filter(Boolean))
        lines.push(JSON.parse(line) as Record<string, unknown>)
      done()
    },
  })
}
