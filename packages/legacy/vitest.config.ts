import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'legacy',
    root: import.meta.dirname,
    include: ['{src,test}/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
    // The service that runs on what was imported is that of the tests of the service.
    globalSetup: ['../manager/test/kit/global-setup.ts'],
  },
})
