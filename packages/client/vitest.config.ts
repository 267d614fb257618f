import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'client',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
    // The client meets the service itself, as the service's own tests start it.
    globalSetup: ['../manager/test/kit/global-setup.ts'],
  },
})
