import { browserTests, testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    ...testOptions,
    name: 'console',
    root: import.meta.dirname,
    include: ['{src,test}/**/*.test.ts'],
    exclude: ['**/*.{load,nightly}.test.ts', ...browserTests],
    passWithNoTests: true,
  },
})
