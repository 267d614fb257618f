// Runs the tests of the TypeScript example with the Python and Go examples.
import { describe } from 'vitest'
import { testExampleBackend } from './kit/example-backend-tests.ts'

describe.each(['backend.py', 'backend.go'] as const)('examples/%s', (program) => {
  testExampleBackend(program)
})
