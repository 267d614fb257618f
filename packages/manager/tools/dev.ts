// `npm run dev`: a Manager to try things on. Starts its own PostgreSQL and Redis unless SVC_DATABASE_URL and
// SVC_REDIS_URL name others, migrates, and runs the service with the development escape hatch open.
import { spawn } from 'node:child_process'
import { userInfo, tmpdir } from 'node:os'
import { migrateUp } from '../src/platform/db/migrate.ts'
import { ensureEngines } from '../test/engines/install.ts'
import { freePort, startPostgres } from '../test/engines/postgres.ts'
import { startRedis } from '../test/engines/redis.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const given = { database: process.env['SVC_DATABASE_URL'], redis: process.env['SVC_REDIS_URL'] }
if (given.database === undefined || given.redis === undefined) ensureEngines()

// The data stays from one run to the next; remove the folder to start again.
const dir = `${tmpdir()}/manager-dev-${userInfo().username}`
const postgres = given.database === undefined ? startPostgres(dir, await freePort()) : null
const redis = given.redis === undefined ? await startRedis(await freePort()) : null
const databaseUrl = given.database ?? (postgres as NonNullable<typeof postgres>).url
for (const name of await migrateUp(databaseUrl, say)) say(`applied ${name}`)

const main = new URL('../src/main.ts', import.meta.url).pathname
const child = spawn(process.execPath, ['--watch-preserve-output', '--watch', main], {
  stdio: 'inherit',
  env: {
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    ...process.env,
    SVC_ENV: 'development',
    SVC_DEV_USER_OVERRIDE_ENABLED: 'true',
    SVC_DATABASE_URL: databaseUrl,
    SVC_REDIS_URL: given.redis ?? redis?.url,
  },
})
const port = process.env['SVC_PORT'] ?? '8080'
say(`API       http://localhost:${port}/query  (data in ${postgres === null ? 'your database' : dir})`)
say(`GraphiQL  http://localhost:${port}/gql    (Ctrl-C stops everything)`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const code = await new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? 1)))
await redis?.stop()
postgres?.stop()
process.exit(code)
