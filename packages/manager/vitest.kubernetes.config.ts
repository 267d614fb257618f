import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

// What needs a Kubernetes API server, which is built first where it is missing.
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/kubernetes/*.kubernetes.test.ts'],
    exclude: [],
    isolate: true,
    maxWorkers: 1,
  },
})
