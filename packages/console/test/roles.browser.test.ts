// Compares the actions of the console with the policy of the API, and what roles see with what the policy grants them.
// roles.nightly.test.ts walks through the console as every principal.
import { expect, test } from 'vitest'
import { type Action, actions } from '../src/app/actions.ts'
import { actionNames, listFields, useRoles, walkAs } from './kit/role-walk.ts'
import { useConsole } from './kit/scene.ts'

const scene = useConsole()
useRoles(scene)

test('the permission of each action is the one that the policy of its requests demands', () => {
  const { fields, routes } = scene.service.app
  const policies = new Map<string, string>([
    ...fields.map(({ type, field, policy }) => [`${type}.${field}`, policy.do] as const),
    ...routes.map(
      ({ method, path, policy }) => [`${method} ${path}`, 'can' in policy ? policy.can.do : 'other'] as const,
    ),
  ])
  const differences = actionNames.flatMap((name) => {
    const action: Action = actions[name]
    const requests = [
      ...listFields(action),
      ...(action.route === undefined ? [] : [`${action.method ?? 'GET'} ${action.route}`]),
      ...(action.upload === undefined ? [] : [`POST ${action.upload}`]),
    ]
    if (requests.length === 0) return [`${name} has no request`]
    return requests
      .filter((request) => policies.get(request) !== action.permission)
      .map((request) => `${name}: ${request} needs ${policies.get(request)}`)
  })
  expect(differences).toEqual([])
})

test('a reader and an administrator of a tenant see what the policy grants, and the rest is refused', async () => {
  expect(await walkAs(['readonly', 'tenant admin'])).toHaveLength(2)
})
