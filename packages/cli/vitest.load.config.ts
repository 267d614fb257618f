import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

export default defineConfig({
  test: {
    ...base.test,
    include: ['test/**/*.load.test.ts'],
    exclude: [],
    maxWorkers: '100%',
    env: { TEST_TIER: 'load' },
  },
})
