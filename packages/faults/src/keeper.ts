// Keeps the PostgreSQL and the Redis of one row, or with the argument `redis` that alone; with `small-disk` their data is on
// a file system of its own. Prints where they are, does to them what it is told, and stops them and throws their data away
// when its standard input ends. That happens however the harness ends, also when it is killed. A line of input is `postgres
// stop fast`, `postgres stop immediate`, `postgres start`, `redis start`, `disk fill`, `disk free`, or an engine and a
// signal; each is answered by a line: `done`, or what went wrong.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { mountSmallDisk } from './engines/small-disk.ts'
import { signalPostgres } from './engines/frozen.ts'
import { freePort, startPostgres } from '@manager/harness/engines/postgres.ts'
import { startRedis } from '@manager/harness/engines/redis.ts'

const dir = mkdtempSync(`${tmpdir()}/manager-engines-`)
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const lines = createInterface(process.stdin)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => lines.close())
const disk = process.argv[2] === 'small-disk' ? mountSmallDisk(dir) : null
try {
  const postgres =
    process.argv[2] === 'redis' ? null : startPostgres(dir, await freePort(), { durable: true })
  let redis = await startRedis(await freePort())
  let isStopped = false
  print(JSON.stringify({ databaseUrl: postgres?.url ?? null, redisUrl: redis.url, dir }))

  const obey = async ([engine, action, mode]: string[]): Promise<void> => {
    if (engine === 'disk') {
      if (action === 'fill') disk?.fill()
      else disk?.free()
    } else if (engine === 'postgres') {
      if (postgres === null) throw new Error('there is no PostgreSQL here')
      if (action === 'SIGSTOP' || action === 'SIGCONT') return signalPostgres(dir, action)
      if (action === 'start') postgres.start()
      else postgres.stop(mode as 'fast' | 'immediate')
      isStopped = action !== 'start'
    } else if (action === 'start') redis = await startRedis(redis.port)
    else redis.signal(action as 'SIGKILL')
  }
  for await (const line of lines)
    await obey(line.split(' ')).then(
      () => print('done'),
      (error: unknown) => print((error as Error).message),
    )
  await redis.stop()
  disk?.free()
  // One that is stopped by a signal would not hear that it shall end.
  if (postgres !== null) signalPostgres(dir, 'SIGCONT')
  if (!isStopped) postgres?.stop('immediate')
} finally {
  disk?.unmount()
  rmSync(dir, { recursive: true, force: true })
}
process.exit()
