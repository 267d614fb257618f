// Runs the PostgreSQL and Redis servers of one scenario, or only Redis with the argument `redis`. With
// `small-disk`, PostgreSQL's data is on a separate file system. The keeper prints the addresses and then applies
// faults.
//
// Each input line is `postgres stop fast`, `postgres stop immediate`, `postgres start`, `redis start`, `disk
// fill`, `disk free`, or a server name and a signal. The reply is one line: `done`, or the error. When stdin
// closes, the keeper stops the servers and removes their data. Stdin closes even if the harness is killed.
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

  const execute = async ([engine, action, mode]: string[]): Promise<void> => {
    if (engine === 'disk') {
      if (action === 'fill') disk?.fill()
      else disk?.free()
    } else if (engine === 'postgres') {
      if (postgres === null) throw new Error('this keeper runs no PostgreSQL')
      if (action === 'SIGSTOP' || action === 'SIGCONT') return signalPostgres(dir, action)
      if (action === 'start') postgres.start()
      else postgres.stop(mode as 'fast' | 'immediate')
      isStopped = action !== 'start'
    } else if (action === 'start') redis = await startRedis(redis.port)
    else redis.signal(action as 'SIGKILL')
  }
  for await (const line of lines)
    await execute(line.split(' ')).then(
      () => print('done'),
      (error: unknown) => print((error as Error).message),
    )
  await redis.stop()
  disk?.free()
  // A frozen server would not react to the stop request.
  if (postgres !== null) signalPostgres(dir, 'SIGCONT')
  if (!isStopped) postgres?.stop('immediate')
} finally {
  disk?.unmount()
  rmSync(dir, { recursive: true, force: true })
}
process.exit()
