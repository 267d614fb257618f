// Keeps a PostgreSQL and a Redis for whoever started it (run.ts): prints where they are, and stops them and throws their
// data away when its standard input ends. That happens however the other process ends, also when it is killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { freePort, startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'

const dir = mkdtempSync(`${tmpdir()}/manager-engines-`)
try {
  const postgres = startPostgres(dir, await freePort())
  const redis = await startRedis(await freePort())
  process.stdout.write(`${JSON.stringify({ databaseUrl: postgres.url, redisUrl: redis.url, dir })}\n`)
  await new Promise((resolve) => {
    process.stdin.once('close', resolve).resume()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve)
  })
  await redis.stop()
  postgres.stop('immediate')
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit()
