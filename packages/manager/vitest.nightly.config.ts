import { defineConfig } from 'vitest/config'
import load from './vitest.load.config.ts'

export default defineConfig({
  test: {
    ...load.test,
    include: ['{src,test}/**/*.nightly.test.ts', 'faults/*.nightly.test.ts'],
    // Tests that measure memory start in a fresh process.
    isolate: true,
    env: { ...load.test?.env, LOAD_SIZE: 'full' },
  },
})
