import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'cli',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.{load,nightly}.test.ts'],
    // The tests run against a real service, so they share the global setup of the manager package.
    globalSetup: ['../manager/test/kit/global-setup.ts'],
  },
})
