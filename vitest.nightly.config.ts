import { defineConfig } from 'vitest/config'

// Test files run one at a time, so that they do not disturb time measurements.
export default defineConfig({
  test: { projects: ['packages/*/vitest.nightly.config.ts'], fileParallelism: false },
})
