// Runs a command with a PostgreSQL and a Redis of its own: `node test/engines/run.ts npm test`. Installs them, and the
// browser the page tests use, where that is possible, and throws the data away afterwards.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { ensureChromium, ensureEngines } from './install.ts'
import { freePort, startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'

const [program, ...args] = process.argv.slice(2)
if (program === undefined) throw new Error('usage: node run.ts <command> [arguments]')
ensureEngines()
// Now rather than in the middle of the tests, where it would slow the others down.
ensureChromium()
const dir = mkdtempSync(`${tmpdir()}/manager-engines-`)
const postgres = startPostgres(dir, await freePort())
const redis = await startRedis(await freePort())
const env = { ...process.env, TEST_DATABASE_URL: postgres.url, TEST_REDIS_URL: redis.url }
const child = spawn(program, args, { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const code = await new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? 1)))
await redis.stop()
postgres.stop('immediate')
rmSync(dir, { recursive: true, force: true })
process.exit(code)
