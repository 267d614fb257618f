import { defineConfig } from 'vitest/config'

// Tests that measure have the machine to themselves: one file at a time.
export default defineConfig({
  test: { projects: ['packages/*/vitest.nightly.config.ts'], fileParallelism: false },
})
