import { testOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'

// An environment variable excludes the browser tests, because --exclude does not apply to projects.
const browserTests = process.env['SKIP_BROWSER_TESTS'] === 'true' ? ['**/*.browser.test.ts'] : []

export default defineConfig({
  test: {
    ...testOptions,
    name: 'manager',
    root: import.meta.dirname,
    include: ['{src,test}/**/*.test.ts'],
    exclude: ['**/*.{load,nightly}.test.ts', ...browserTests],
    globalSetup: ['test/kit/global-setup.ts'],
  },
})
