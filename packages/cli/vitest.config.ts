import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'cli',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
    // The service that is asked is that of the tests of the service.
    globalSetup: ['../manager/test/kit/global-setup.ts'],
  },
})
