// Vitest options of every package that tests the service. Each package selects its tests in its own file.
import { availableParallelism } from 'node:os'
import type { TestUserConfig } from 'vitest/node'

export const testOptions = {
  // Processes instead of threads, so that a test file can exhaust a pool or crash without affecting another.
  pool: 'forks',
  // More workers than cores, because tests spend a quarter of their time waiting for processes, sockets and timers.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // Test files run one after the other in a process and share its modules, because reloading them would dominate the
  // run time. A file must therefore leave nothing behind: no timer, no listener, no changed global.
  isolate: false,
  setupFiles: [new URL('property-seed.ts', import.meta.url).pathname],
  restoreMocks: true,
  unstubGlobals: true,
  // Node loads the files and strips their types, as it does for the service.
  experimental: { viteModuleRunner: false },
  // Generous timeouts: they stop tests that hang, but not tests that a busy machine slows down.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  // A test that was left focused must not hide the others.
  allowOnly: false,
} satisfies TestUserConfig

/** Options for tests that measure: a fresh process, production limits and full sizes. */
export const nightlyOptions = {
  ...testOptions,
  isolate: true,
  maxWorkers: '100%',
  env: { TEST_TIER: 'load', LOAD_SIZE: 'full' },
} satisfies TestUserConfig
