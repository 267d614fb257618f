import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'legacy',
    root: import.meta.dirname,
    include: ['{src,test}/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
    // The tests run a real service on the imported rows, so they share the global setup of the manager package.
    globalSetup: ['../manager/test/kit/global-setup.ts'],
  },
})
