// Vitest options of every package that tests the service. Each package selects its tests in its own file.
import { availableParallelism } from 'node:os'
import type { TestUserConfig } from 'vitest/node'

/** Tests that need a browser. The hosted workflow excludes them from its shards by an environment variable. */
export const browserTests = process.env['SKIP_BROWSER_TESTS'] === 'true' ? ['**/*.browser.test.ts'] : []

export const testOptions = {
  // Tests run in processes instead of threads, so that a test file can exhaust a pool or crash without
  // affecting others.
  pool: 'forks',
  // There are more workers than cores, because tests wait for processes, sockets and timers. With two workers per core,
  // the cores are busy 99 % of the time.
  maxWorkers: 2 * availableParallelism(),
  // A process runs several test files one at a time. The files share loaded modules, because reloading them would
  // dominate the run time. A test file must therefore clean up all timers, listeners and changed globals.
  isolate: false,
  setupFiles: [new URL('property-seed.ts', import.meta.url).pathname],
  restoreMocks: true,
  unstubGlobals: true,
  // Node loads the files and strips their types, as it does for the service.
  experimental: { viteModuleRunner: false },
  // The timeouts are long: they stop tests that hang, but not tests that a busy machine slows down.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  // A forgotten `.only` must not hide the other tests.
  allowOnly: false,
} satisfies TestUserConfig

/** Options for tests that measure performance: a fresh process, production limits and full sizes. */
export const nightlyOptions = {
  ...testOptions,
  isolate: true,
  maxWorkers: '100%',
  env: { TEST_TIER: 'load', LOAD_SIZE: 'full' },
} satisfies TestUserConfig
