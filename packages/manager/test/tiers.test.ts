// Tests that load and measurement tests are in the second tier, where no other tests run on the machine at the same
// time.
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const files = globSync('*/{src,test}/**/*.test.ts', { cwd: root }).filter(
  (file) => !file.includes('.load.') && !file.includes('.nightly.'),
)
/** Matches code that measures elapsed time, memory use or event loop delay, or that makes calls at a fixed rate. */
const measures =
  /performance\.now\(\) -|hrtime|memoryUsage|[cC]puUsage|monitorEventLoopDelay|(?:kit\/(?:flood|watched-service)|harness\/steady)\.ts/
/** These tests compare elapsed time with values that the service measured, which works on any machine. */
const known = [
  // Checks a lower bound for a slow link. A busy machine only makes the link slower.
  'faults/src/engines/fault-proxy.test.ts',
  'manager/src/features/backends/heartbeats.test.ts',
  'manager/src/features/gateway/gateway-log.test.ts',
  'manager/src/features/notifications/emit-rates.test.ts',
  'manager/test/proxy-limits.test.ts',
  'manager/test/tiers.test.ts',
]

test('nothing that is run by `npm test` measures time or memory, or floods', () => {
  expect(files.length).toBeGreaterThan(100)
  const measuring = files.filter((file) => measures.test(readFileSync(root + file, 'utf8')))
  expect(measuring.toSorted()).toEqual(known)
})

test('what measures is found', () => {
  for (const text of [
    'expect(performance.now() - start).toBeLessThan(100)',
    'process.memoryUsage().rss',
    'process.threadCpuUsage()',
    "import { startFlood } from '../kit/flood.ts'",
  ])
    expect(text).toMatch(measures)
  expect('vi.spyOn(performance, "now")').not.toMatch(measures)
})
