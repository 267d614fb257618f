import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'docs',
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.nightly.test.ts'],
  },
})
