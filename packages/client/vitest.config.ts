import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'client',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
    // The client meets the service itself, as the service's own tests start it.
    globalSetup: ['../manager/test/kit/global-setup.ts'],
    pool: 'forks',
    maxWorkers: '100%',
    isolate: false,
    restoreMocks: true,
    // Node itself loads and strips the types, as it does for those who use the package.
    experimental: { viteModuleRunner: false },
    // Generous: they end what hangs, and must not end what a busy machine makes slow.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A test that was left focused must not hide the others.
    allowOnly: false,
  },
})
