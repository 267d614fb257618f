// Runs a command with a PostgreSQL and a Redis of its own: `node test/engines/run.ts npm test`. Installs them, the
// browser of the page tests, the S3 service of the bucket tests and Prometheus, where that is possible. However it ends, its engines and their data go with it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ensureCeph, ensureChromium, ensureEngines, ensurePrometheus } from './install.ts'

const [program, ...args] = process.argv.slice(2)
if (program === undefined) throw new Error('usage: node run.ts <command> [arguments]')
ensureEngines()
// Now rather than in the middle of the tests, where it would slow the others down.
ensureChromium()
ensureCeph()
ensurePrometheus()
const keeper = spawn(process.execPath, [new URL('./keeper.ts', import.meta.url).pathname], {
  // Its own session: what ends this process, by whatever signal, does not end the keeper.
  detached: true,
  stdio: ['pipe', 'pipe', 'inherit'],
})
const kept = once(keeper, 'exit')
const [line] = (await Promise.race([once(createInterface(keeper.stdout), 'line'), kept])) as [unknown]
if (typeof line !== 'string') throw new Error('the engines could not be started')
const { databaseUrl, redisUrl } = JSON.parse(line) as { databaseUrl: string; redisUrl: string }
const env = { ...process.env, TEST_DATABASE_URL: databaseUrl, TEST_REDIS_URL: redisUrl }
const child = spawn(program, args, { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
const [status] = (await once(child, 'exit')) as [number | null]
keeper.stdin.end()
await kept
process.exit(status ?? 1)
