// Tests the speed and memory use of large audit exports: 1 million rows with LOAD_SIZE=full.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { countOpenSnapshots, useLargeTrail } from '../kit/audit-export-scene.ts'
import { askExport } from '../kit/audit-export.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'

const [chains, rowsPerChain] = [10, loadSize(20_000, 100_000)]
const rows = chains * rowsPerChain
const allowedMb = 64
const scene = useLargeTrail(chains, rowsPerChain)

const rssMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${scene.service.child.pid}/status`, 'utf8'))?.[1]) / 1024

/** Returns the peak memory growth of the service during the work, in MB. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = rssMb()
  let most = before
  const timer = setInterval(() => (most = Math.max(most, rssMb())), 20)
  await work()
  clearInterval(timer)
  return most - before
}

/** Reads an export to its end and returns the number of lines. */
async function readExport(query: Record<string, string>): Promise<number> {
  const response = await askExport(scene.service, scene.admin, query)
  let lines = 0
  for await (const chunk of response.body as AsyncIterable<Uint8Array>)
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
  return lines
}

/** Exports the same rows with psql. */
function bareCopy(): Promise<void> {
  const copy = 'copy (select * from audit_logs order by chain_id, seq) to stdout'
  const child = spawn('psql', [scene.database.url, '-c', copy], { stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve, reject) =>
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`psql exited with ${code}`)))),
  )
}

const perSecond = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return Math.round(rows / ((performance.now() - startedAt) / 1_000))
}
test('[audit-export.streamed] very many rows leave in constant memory', async () => {
  // Warms up first, so that module loading and the growth of V8's young generation do not count as the cost of rows.
  for (const format of ['csv', 'ndjson'])
    await readExport({ project_id: scene.chainIds[0] as string, format })
  const report = (what: string, figures: Record<string, number>): void =>
    void process.stdout.write(
      `${what} of ${rows} rows: ${Object.entries(figures)
        .map(([name, value]) => `${name}=${Math.round(value)}`)
        .join(' ')}\n`,
    )
  let [lines, rows_per_s] = [0, 0]
  const rss_mb_more = await growthDuring(async () => {
    rows_per_s = await perSecond(async () => (lines = await readExport({ format: 'ndjson' })))
  })
  const bare_copy_rows_per_s = await perSecond(bareCopy)
  report('export', { rows_per_s, bare_copy_rows_per_s, rss_mb: rssMb(), rss_mb_more })
  expect(rss_mb_more).toBeLessThan(allowedMb)
  expect(lines).toBeGreaterThan(rows)
}, 500_000)

test('a client that stops reading holds no memory, and one that is gone gives its cursor back', async () => {
  const { hostname, port } = new URL(scene.service.url)
  const socket = connect(Number(port), hostname)
  const lines = Object.entries(headersOf(scene.admin)).map(([name, value]) => `${name}: ${value}\r\n`)
  const growth = await growthDuring(async () => {
    socket.write(`GET /api/audit/export?format=csv HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`)
    await new Promise((resolve) => socket.once('readable', resolve))
    await new Promise((resolve) => setTimeout(resolve, 5_000))
  })
  process.stdout.write(`unread export: rss_mb=+${growth.toFixed(1)}\n`)
  expect(growth).toBeLessThan(allowedMb)
  expect(await countOpenSnapshots(scene.sql)).toBe(1)
  socket.destroy()
  await expect.poll(() => countOpenSnapshots(scene.sql), { timeout: 5_000 }).toBe(0)
  // A client disconnect is not an error.
  expect(scene.service.lines.filter((line) => line.includes('response stream failed'))).toEqual([])
  expect((await askExport(scene.service, scene.admin, { limit: '1' })).status).toBe(200)
}, 60_000)
