import { defineConfig } from 'vitest/config'

// Each package configures its tests in its own file.
export default defineConfig({
  test: { projects: ['packages/*/vitest.config.ts'] },
})
