import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

export default defineConfig({
  test: {
    ...base.test,
    include: ['{src,test}/**/*.load.test.ts'],
    exclude: [],
    maxWorkers: '100%',
    // In this tier, the test kit applies production limits.
    env: { TEST_TIER: 'load' },
  },
})
