// Walks through the console as every principal of the policy matrix.
import { expect, test } from 'vitest'
import { principals } from '../../manager/test/policy/principals.ts'
import { useRoles, walkAs } from './kit/role-walk.ts'
import { useConsole } from './kit/scene.ts'

useRoles(useConsole())

test('each role sees the sections and actions of the policy, and the others are refused', async () => {
  expect(await walkAs(principals)).toEqual(principals)
})
