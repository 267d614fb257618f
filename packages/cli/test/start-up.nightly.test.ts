// Measures the CPU time of a start. The source tree is the slower case: Node strips the types of the first file.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { useFolder } from './kit/svc.ts'

const program = new URL('../src/svc.ts', import.meta.url).pathname
const [maxCpuMs, runCount] = [150, 21]
const cache = useFolder()

/** Returns the CPU time of a command line in milliseconds, in user mode and in the kernel. */
function measureCpuMs(args: readonly string[]): number {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" > /dev/null'
  const options = { env: { XDG_CACHE_HOME: cache.path } }
  const command = ['-c', `{ ${script}; } 2>&1`, 'bash', process.execPath, program, ...args]
  const times = execFileSync('bash', command, options).toString().trim().split(' ')
  const [user = Number.NaN, system = Number.NaN] = times.map(Number)
  return 1_000 * (user + system)
}

test('svc --help needs less than 150 ms of CPU after the first start, which fills the cache', () => {
  measureCpuMs(['--help'])
  const times = Array.from({ length: runCount }, () => measureCpuMs(['--help']))
  // Other processes only add to the CPU time, because they evict caches. The smallest time is closest to the work.
  const least = Math.min(...times)
  expect(least).toBeGreaterThan(10)
  expect(least).toBeLessThan(maxCpuMs)
})
