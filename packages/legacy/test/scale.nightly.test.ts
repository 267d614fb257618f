// Measures the duration and the memory usage of a large import. Twice as many rows must take about twice as
// long.
import { readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { testEnv } from '@manager/harness/test-env.ts'
import { createScratchDatabase } from '../../manager/test/kit/databases.ts'
import { type BulkSize, bulkRows, createBulkInstall } from './bulk-install.ts'
import { importArguments, readLedger } from './imported.ts'
import { program } from './run-legacy.ts'

const most = Number(process.env['LEGACY_TENANTS'] ?? 200)

/** Returns the peak memory of a process in bytes, or 0 where /proc does not exist. */
const peakBytes = (pid: number): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1_024
  } catch {
    return 0
  }
}

async function measure(size: BulkSize) {
  const [old, database] = await Promise.all([createBulkInstall(size), createScratchDatabase()])
  const started = performance.now()
  const child = spawn(process.execPath, [program, ...importArguments(old.url)], {
    env: { PATH: process.env['PATH'], ...testEnv(database.url) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, peakBytes(child.pid as number))), 100)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(timer)
  const seconds = (performance.now() - started) / 1_000
  const ledger = await readLedger(database.url)
  await Promise.all([old.drop(), database.drop()])
  const rows = [...ledger.values()].reduce((sum, view) => sum + view.size, 0)
  process.stdout.write(
    `${size.tenants} tenants x ${size.applications}: ${(seconds / 60).toFixed(2)} min, ` +
      `${Math.round(rows / seconds)} rows/s of ${rows}, peak ${Math.round(peak / 1_048_576)} MiB\n`,
  )
  return { code, rows, seconds, peak, wanted: bulkRows(size) }
}

describe('a large import', () => {
  test('takes time as it has rows, and little memory', { timeout: 7_200_000 }, async () => {
    const small = await measure({ tenants: Math.ceil(most / 10), applications: 20 })
    const large = await measure({ tenants: most, applications: 20 })
    expect([small.code, large.code]).toEqual([0, 0])
    expect([small.rows, large.rows]).toEqual([small.wanted, large.wanted])
    expect(large.seconds / large.rows).toBeLessThan((2 * small.seconds) / small.rows)
    expect(large.peak).toBeLessThan(1_024 * 1_048_576)
  })
})
