import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'cli',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
    // The service that is asked is that of the tests of the service.
    globalSetup: ['../manager/test/kit/global-setup.ts'],
    pool: 'forks',
    maxWorkers: '100%',
    isolate: false,
    // Node itself loads and strips the types, as it does for those who run the program from the repository.
    experimental: { viteModuleRunner: false },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A test that was left focused must not hide the others.
    allowOnly: false,
  },
})
