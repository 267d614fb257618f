import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// An environment variable excludes the tests, because --exclude does not apply to projects.
const browserTests = process.env['SKIP_BROWSER_TESTS'] === 'true' ? ['**/*.browser.test.ts'] : []

export default defineConfig({
  test: {
    name: 'gotemplate',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts', ...browserTests],
    setupFiles: ['../harness/src/property-seed.ts'],
    pool: 'forks',
    // All packages must use the same number of workers, because vitest runs them together.
    maxWorkers: 2 * availableParallelism(),
    // Node loads the files and strips the types, as it does for users of the package.
    experimental: { viteModuleRunner: false },
    testTimeout: 120_000,
    // A forgotten `.only` must not hide the other tests.
    allowOnly: false,
  },
})
