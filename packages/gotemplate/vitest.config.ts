import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// A variable, because --exclude does not reach projects.
const browserTests = process.env['SKIP_BROWSER_TESTS'] === 'true' ? ['**/*.browser.test.ts'] : []

export default defineConfig({
  test: {
    name: 'gotemplate',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts', ...browserTests],
    setupFiles: ['../harness/src/property-seed.ts'],
    pool: 'forks',
    // The same number in all packages: vitest runs them together.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Node itself loads and strips the types, as it does for those who use the package.
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    // A test that was left focused must not hide the others.
    allowOnly: false,
  },
})
