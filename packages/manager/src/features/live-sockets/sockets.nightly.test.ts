// These tests open many sockets in one process, including sockets whose clients do not read.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { createScratchDatabase } from '../../../test/kit/databases.ts'
import { hintSender, liveHint } from '../../../test/kit/hints.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { startProcess } from '@manager/harness/process.ts'
import { seedProject } from '@manager/harness/seed.ts'
import { openCrowd, seedCrowd } from '../../../test/kit/socket-crowd.ts'

const bench = new URL('../../../bench/comms-sockets.ts', import.meta.url).pathname
const say = (line: string): void => void process.stdout.write(`${line}\n`)

test(
  '10,000 sockets take at most 20 KB each, and a hint reaches all about as fast as a bare loop writes it',
  {
    timeout: 600_000,
  },
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      bench,
      '--sockets',
      '10000',
      '--rounds',
      String(loadSize(4, 10)),
    ])
    say(stdout)
    const [, perSocket] = /service: 10000 sockets, .* ([\d.]+) KB/.exec(stdout) ?? []
    const [, ratio] = /ratio=([\d.]+)/.exec(stdout) ?? []
    expect(Number(perSocket)).toBeLessThanOrEqual(20)
    // The goal is 0.85, but the ratio fluctuates with other load on the machine.
    expect(Number(ratio)).toBeGreaterThanOrEqual(0.6)
  },
)

test(
  'of 2,000 sockets 100 stop reading: they are closed, the others get everything, memory stays bounded',
  {
    timeout: 300_000,
  },
  async () => {
    const database = await createScratchDatabase()
    const sql = new Pool({ connectionString: database.url, max: 1 })
    const env = { SVC_COMMS_PING_INTERVAL: '300s', SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' }
    const service = await startProcess(database.url, env)
    const project = await seedProject(sql, 'slow')
    const seats = await seedCrowd(sql, project, 2_000)
    const crowd = await openCrowd(service.url, seats)
    const sender = await hintSender(database.url)
    const memory = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) / 1_024
    const metric = async (line: RegExp): Promise<number> =>
      Number(line.exec(await (await fetch(`${service.healthUrl}/metrics`)).text())?.[1])
    const toAll = async (): Promise<number> => {
      const times = await crowd.arrivalsOf(() => sender.send(liveHint(project, 'for all')))
      return times[Math.floor(times.length * 0.99)] as number
    }
    const clean = await toAll()
    await crowd.pause(50)
    const before = memory()
    // In each client process, the first 50 sockets do not read, and the next 50 sockets do.
    const users = [...seats.slice(0, 100), ...seats.slice(1_000, 1_100)].map(({ userId }) => userId)
    const large = liveHint(project, `large ${'x'.repeat(15_000)}`)
    await crowd.count('"large')
    let sent = 0
    const during: number[] = []
    const closed = (): Promise<number> => metric(/^svc_ws_closed_total\{code="4001"\} (\d+)$/m)
    while ((await closed()) < 100) {
      for (let i = 0; i < 25; i++, sent++)
        await sender.send({ ...large, audience: { users, roles: [], members: false } })
      await new Promise((resolve) => setTimeout(resolve, 250))
      if (sent % 100 === 0) during.push(await toAll())
    }
    await expect.poll(async () => (await crowd.count('"large')).counted, { timeout: 60_000 }).toBe(sent * 100)
    expect(await metric(/^svc_ws_connections (\d+)$/m)).toBe(1_900)
    const grown = memory() - before
    say(
      `slow consumers: p99 clean=${clean.toFixed(0)} ms, meanwhile ${during.map((ms) => ms.toFixed(0)).join(' ')} ms; memory +${grown.toFixed(0)} MiB`,
    )
    expect(grown).toBeLessThan(300)
    crowd.close()
    await sender.close()
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    await sql.end()
    await database.drop()
  },
)
