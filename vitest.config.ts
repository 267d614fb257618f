import { defineConfig } from 'vitest/config'

// Each package says in its own file how its tests run.
export default defineConfig({
  test: { projects: ['packages/*/vitest.config.ts'] },
})
