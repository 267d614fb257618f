// The examples in Python and Go pass the tests of the example in TypeScript.
import { describe } from 'vitest'
import { testExampleBackend } from './kit/example-backend-tests.ts'

describe.each(['backend.py', 'backend.go'] as const)('examples/%s', (program) => {
  testExampleBackend(program)
})
