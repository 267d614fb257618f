import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

export default defineConfig({
  test: { ...base.test, maxWorkers: '100%', include: ['test/**/*.nightly.test.ts'], exclude: [] },
})
