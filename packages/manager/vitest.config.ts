import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/kit/global-setup.ts'],
    // Processes, so that a test file can fill a pool or end badly without touching another.
    pool: 'forks',
    // Node itself loads and strips the types, as it does for the service.
    experimental: { viteModuleRunner: false },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test that was left focused must not hide the others.
    allowOnly: false,
  },
})
