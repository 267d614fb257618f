import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

export default defineConfig({
  test: {
    ...base.test,
    include: ['src/**/*.load.test.ts', 'test/**/*.load.test.ts'],
    exclude: [],
    isolate: true,
    maxWorkers: 1,
    // The kit then takes the limits of production.
    env: { TEST_TIER: 'load' },
  },
})
