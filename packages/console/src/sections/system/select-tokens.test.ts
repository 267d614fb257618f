import { expect, test } from 'vitest'
import type { OwnedToken } from '../../app/token-state.ts'
import { filterTokens, sortTokens } from './select-tokens.ts'

const now = Date.parse('2026-11-19T12:00:00Z')

const createToken = (name: string, values: Partial<OwnedToken> = {}, person = 'Ada'): OwnedToken => ({
  id: name,
  name,
  tokenPrefix: 'ab12cd34',
  expiresAt: null,
  createdAt: '2026-01-01T00:00:00Z',
  lastUsedAt: null,
  revoked: false,
  revision: 1,
  user: {
    id: person,
    externalName: person,
    externalUsername: person,
    externalEmail: `${person.toLowerCase()}@example.com`,
  },
  ...values,
})

const tokens = [
  createToken('deploy', { lastUsedAt: '2026-11-01T00:00:00Z' }),
  createToken('backup', { expiresAt: '2026-11-01T00:00:00Z' }, 'Grace'),
  createToken('nightly', { revoked: true, lastUsedAt: '2026-11-02T00:00:00Z' }, 'Grace'),
]
const namesOf = (list: readonly OwnedToken[]): string[] => list.map(({ name }) => name)

test.each([
  ['', 'any', ['deploy', 'backup', 'nightly']],
  ['GRACE@', 'any', ['backup', 'nightly']],
  ['nightly', 'any', ['nightly']],
  ['pat_ab12', 'usable', ['deploy']],
  ['', 'unusable', ['backup', 'nightly']],
] as const)('the text %j with the status %s finds %j', (text, status, names) => {
  expect(namesOf(filterTokens(tokens, { text, status }, now))).toEqual(names)
})

test.each([
  ['name', 'ASC', ['backup', 'deploy', 'nightly']],
  ['person', 'DESC', ['backup', 'nightly', 'deploy']],
  ['lastUsedAt', 'ASC', ['deploy', 'nightly', 'backup']],
  ['lastUsedAt', 'DESC', ['nightly', 'deploy', 'backup']],
  ['unknown', 'ASC', ['deploy', 'backup', 'nightly']],
] as const)('orders by %s %s, tokens without a value last', (field, direction, names) => {
  expect(namesOf(sortTokens(tokens, { field, direction }))).toEqual(names)
})
