// The service as its callers meet it: a real server on loopback, a real PostgreSQL database of its own, a real Redis.
import { Writable } from 'node:stream'
import type { AddressInfo } from 'node:net'
import { Pool } from 'pg'
import { type App, createApp } from '../../src/app.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { createDatabase } from '../../src/platform/db/database.ts'
import { createLog } from '../../src/platform/log.ts'
import type { TransportOptions } from '../../src/transport.ts'
import { type World, closeWorld, createWorld } from '../../src/world.ts'
import { compareAnswers } from './answers.ts'
import { type TestDatabase, createScratchDatabase } from './databases.ts'
import { redisUrl } from './engines.ts'
import { type GraphqlAnswer, postQuery } from './graphql.ts'

export const proxySecret = 'the-proxy-secret-of-the-tests'
export const masterKey = Buffer.alloc(32, 7).toString('base64')

export type Person = { id: string; email?: string; name?: string }

export type TestApp = {
  app: App
  config: Config
  world: World
  database: TestDatabase
  url: string
  /** A connection as database superuser, for looking and for tampering. */
  sql: Pool
  /** Every log line written so far, parsed. */
  logLines: Record<string, unknown>[]
  /** SQL statements the service ran since the list was last emptied. */
  statements: string[]
  /** One GraphQL operation as a person who came through the proxy. */
  query(person: Person, text: string, variables?: Record<string, unknown>): Promise<GraphqlAnswer>
  close(): Promise<void>
}

export type TestAppOptions = {
  env?: Record<string, string | undefined>
  world?: Partial<World>
  transport?: TransportOptions
  database?: TestDatabase
}

/** The headers the proxy sends for a person. */
export const headersOf = (person: Person): Record<string, string> => ({
  'x-proxy-auth': proxySecret,
  'x-token-subject': person.id,
  ...(person.email === undefined ? {} : { 'x-token-user-email': person.email }),
  ...(person.name === undefined ? {} : { 'x-token-user-name': person.name }),
})

/** The environment a test app starts with; `undefined` removes a variable. */
export function testEnv(
  databaseUrl: string,
  env: TestAppOptions['env'] = {},
): Record<string, string | undefined> {
  const defaults = {
    SVC_ENV: 'test',
    SVC_DATABASE_URL: databaseUrl,
    SVC_REDIS_URL: redisUrl(),
    // Test files run side by side from one address; the database tells their counters apart.
    SVC_REDIS_KEY_PREFIX: new URL(databaseUrl).pathname.slice(1).replaceAll('_', '-'),
    SVC_PROXY_SECRET: proxySecret,
    SVC_MASTER_KEY: masterKey,
    SVC_DATABASE_POOL_SIZE: '5',
  }
  return { ...defaults, ...env }
}

/** Starts the service; `close` stops it, drops its database, and throws if an answer was not as the API document says. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await createScratchDatabase())
  const config = loadConfig({ env: testEnv(database.url, options.env) })
  const logLines: Record<string, unknown>[] = []
  const statements: string[] = []
  const log = createLog('info', lineCollector(logLines))
  const counted = createDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    lookupPoolSize: config.databaseLookupPoolSize,
    contentPoolSize: config.databaseContentPoolSize,
    logPoolSize: config.databaseLogPoolSize,
    statementTimeoutMs: config.databaseStatementTimeoutMs,
    acquireTimeoutMs: config.databaseAcquireTimeoutMs,
    log,
    onStatement: (sql) => statements.push(sql),
  })
  const world = createWorld(config, { log, database: counted, ...options.world })
  let undeclared: ReadonlySet<string> = new Set()
  const app: App = await createApp(config, world, {
    ...options.transport,
    extend: (server) => {
      options.transport?.extend?.(server)
      undeclared = compareAnswers(server, () => app.routes)
    },
  })
  await app.server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`
  const sql = new Pool({ connectionString: database.url, max: 2 })
  return {
    app,
    config,
    world,
    database,
    url,
    sql,
    logLines,
    statements,
    query: (person, text, variables) => postQuery(url, headersOf(person), text, variables),
    close: async () => {
      await app.server.close()
      await app.readiness.close()
      await closeWorld(world)
      await sql.end()
      if (options.database === undefined) await database.drop()
      if (undeclared.size > 0)
        throw new Error(`answers that differ from the API document:\n${[...undeclared].join('\n')}`)
    },
  }
}

function lineCollector(lines: Record<string, unknown>[]): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString('utf8').split('\n').filter(Boolean))
        lines.push(JSON.parse(line) as Record<string, unknown>)
      done()
    },
  })
}
