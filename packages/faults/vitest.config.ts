import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'faults',
    root: import.meta.dirname,
    include: ['src/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
  },
})
