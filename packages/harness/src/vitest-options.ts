// How tests run in every package that meets the service. Each package says in its own file which tests there are.
import { availableParallelism } from 'node:os'
import type { TestUserConfig } from 'vitest/node'

export const testOptions = {
  // Processes, so that a test file can fill a pool or end badly without touching another.
  pool: 'forks',
  // More workers than cores: a quarter of the time of a test is spent waiting for processes, sockets and timers.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // Files of a process follow each other and share its modules: loading them anew would be most of the time. So a file
  // leaves nothing behind: no timer, no listener, no change of a global.
  isolate: false,
  setupFiles: [new URL('property-seed.ts', import.meta.url).pathname],
  restoreMocks: true,
  unstubGlobals: true,
  // Node itself loads and strips the types, as it does for the service.
  experimental: { viteModuleRunner: false },
  // Generous: they end what hangs, and must not end what a busy machine makes slow.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  // A test that was left focused must not hide the others.
  allowOnly: false,
} satisfies TestUserConfig

/** Tests that measure: in a fresh process, with the limits of production and full sizes. */
export const nightlyOptions = {
  ...testOptions,
  isolate: true,
  maxWorkers: '100%',
  env: { TEST_TIER: 'load', LOAD_SIZE: 'full' },
} satisfies TestUserConfig
