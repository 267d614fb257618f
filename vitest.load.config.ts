import { defineConfig } from 'vitest/config'

// What floods and measures has the machine for itself: one file at a time.
export default defineConfig({
  test: { projects: ['packages/*/vitest.load.config.ts'], fileParallelism: false },
})
