import { nightlyOptions } from '@manager/harness/vitest-options.ts'
import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

export default defineConfig({
  test: { ...base.test, ...nightlyOptions, include: ['test/**/*.nightly.test.ts'], exclude: [] },
})
