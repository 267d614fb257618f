import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Node itself loads and strips the types, as it does for those who use the package.
    experimental: { viteModuleRunner: false },
    testTimeout: 30_000,
    // A test that was left focused must not hide the others.
    allowOnly: false,
  },
})
