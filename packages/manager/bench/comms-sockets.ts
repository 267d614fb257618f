// Measures the delivery of one hint (a best-effort message) to all sockets of a tenant. The baseline is a
// bare ws server that writes a prebuilt frame in a loop. The rounds alternate, and both sides keep all
// sockets open.
//   node bench/comms-sockets.ts [--sockets 5000] [--rounds 20]
import { parseArgs } from 'node:util'
import { readFileSync } from 'node:fs'
import { Pool } from 'pg'
import { createScratchDatabase } from '../test/kit/databases.ts'
import { hintSender, liveHint } from '../test/kit/hints.ts'
import { seedProject } from '@manager/harness/seed.ts'
import { openCrowd, seedCrowd } from '../test/kit/socket-crowd.ts'
import { median, quantile } from './load.ts'
import { printLine, startBare, startService } from './sides.ts'

const { values: options } = parseArgs({
  options: { sockets: { type: 'string', default: '5000' }, rounds: { type: 'string', default: '20' } },
})
const [count, rounds] = [Number(options.sockets), Number(options.rounds)]
const readMemory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

const database = await createScratchDatabase()
const sql = new Pool({ connectionString: database.url, max: 2 })
const env = { SVC_COMMS_MAX_SOCKETS: String(Math.ceil(1.3 * count)), SVC_COMMS_PING_INTERVAL: '300s' }
const service = await startService(database.url, env)
const bare = await startBare('./bare-sockets.ts', [])
const project = await seedProject(sql, 'bench')
const seats = await seedCrowd(sql, project, count)

const sender = await hintSender(database.url)

const openSockets = async (side: { pid: number; url: string }, ready?: string) => {
  const memoryBefore = readMemory(side.pid)
  const crowd = await openCrowd(side.url, seats, ready)
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const memoryPerSocket = (readMemory(side.pid) - memoryBefore) / count
  return { crowd, memoryPerSocket, perSecond: (count / crowd.openMs) * 1_000 }
}
const sides = { bare: await openSockets(bare, ' 101 '), service: await openSockets(service) }
const hint = liveHint(project, { what: 'a small piece of live data', value: 42 })
const send = {
  bare: () => fetch(`${bare.url}/${encodeURIComponent(hint.text)}`),
  service: () => sender.send(hint),
}
const rate = { bare: [] as number[], service: [] as number[] }
const p50 = { bare: [] as number[], service: [] as number[] }
const p99 = { bare: [] as number[], service: [] as number[] }
for (let round = 0; round <= rounds; round++)
  for (const sideName of ['bare', 'service'] as const) {
    const times = await sides[sideName].crowd.arrivalsOf(send[sideName])
    if (round === 0) continue
    rate[sideName].push((times.length / (times.at(-1) as number)) * 1_000)
    p50[sideName].push(quantile(times, 0.5))
    p99[sideName].push(quantile(times, 0.99))
  }
const ratios = rate.service.map((serviceRate, index) => serviceRate / (rate.bare[index] as number))
for (const [sideName, { memoryPerSocket, perSecond }] of Object.entries(sides))
  printLine(
    `${sideName}: ${count} sockets, ${perSecond.toFixed(0)} opened per second, ${memoryPerSocket.toFixed(1)} KB of memory each`,
  )
printLine(
  `comms-sockets n=${count} ratio=${median(ratios).toFixed(2)} ` +
    `(${quantile(ratios, 0.25).toFixed(2)}..${quantile(ratios, 0.75).toFixed(2)}) ` +
    `service=${median(rate.service).toFixed(0)}/s bare=${median(rate.bare).toFixed(0)}/s ` +
    `p50=${median(p50.service).toFixed(0)}/${median(p50.bare).toFixed(0)} ms ` +
    `p99=${median(p99.service).toFixed(0)}/${median(p99.bare).toFixed(0)} ms`,
)
for (const { crowd } of Object.values(sides)) crowd.close()
for (const side of [service, bare]) side.stop()
await sender.close()
await sql.end()
await database.drop()
