import { expect, test } from 'vitest'
import { hasRight, rights, roles } from '../src/sections/system/role-rights.ts'

const listRoles = (id: string): readonly string[] => {
  const requirement = rights.find((right) => right.id === id)?.requirement ?? {}
  return roles.filter((role) => hasRight(role, requirement))
}

test.each([
  ['PROJECT_CREATE', ['administrator']],
  ['PROJECT_WRITE', ['administrator', 'owner']],
  ['USER_SEARCH', ['administrator', 'owner', 'maintainer']],
  ['SETTINGS_WRITE', ['administrator', 'owner', 'maintainer', 'developer']],
  ['TENANT_READ', [...roles]],
  ['PROJECT_VIEW', [...roles]],
  ['SELF_READ', [...roles]],
])('%s belongs to %j', (id, expected) => {
  expect(listRoles(id)).toEqual(expected)
})

test('a higher role has every right of a lower one', () => {
  for (const { id } of rights) {
    const held = listRoles(id)
    expect(held).toEqual(roles.slice(0, held.length))
  }
})
