import { expect, test } from 'vitest'
import { type Change, type Entry, describeEntry, findOwners, formatValue } from './entry.ts'

const [user, tenant, application, row] = ['1', '2', '3', '4'].map(
  (digit) => `0000000${digit}-0000-7000-8000-000000000000`,
) as [string, string, string, string]

type Values = Partial<Entry> & { values?: Record<string, Omit<Change, 'field'>>; data?: object }

const createEntry = ({ values = {}, data = {}, ...entry }: Values): Entry => ({
  id: row,
  seq: 1,
  entityType: 'tenant',
  entityID: row,
  action: 'update',
  description: '',
  metadata: JSON.stringify(data),
  changes: JSON.stringify(values),
  ipAddress: '',
  userAgent: '',
  createdAt: '2026-11-19T10:00:00.000Z',
  hash: '',
  principalType: 'user',
  principal: user,
  user: null,
  ...entry,
})

/** Returns the sentence as text. A word is shown as its key without `audit.`, and an id as one of its digits. */
const say = (values: Values): string =>
  describeEntry(createEntry(values))
    .map((part) =>
      'word' in part
        ? part.word.slice('audit.'.length)
        : 'id' in part
          ? [part.id[7], part.text].filter((text) => text !== undefined).join(':')
          : part.text,
    )
    .join(' ')

const added = (after: unknown) => ({ before: null, after })

test.each<[Values, string]>([
  [{ description: 'tenant acme updated' }, 'kind.tenant 4:acme done.update'],
  [
    { entityType: 'trigger', action: 'run', description: 'trigger nightly run on request' },
    'kind.trigger nightly done.run',
  ],
  [
    { entityType: 'machineUser', action: 'rotate', description: 'machineUser ingest rotated' },
    'tokenOf ingest done.rotate',
  ],
  [
    {
      entityType: 'endpoint',
      description: 'endpoint updated created updated',
      values: { enabled: { before: true, after: false } },
    },
    'kind.endpoint updated created done.disable',
  ],
  [
    { entityType: 'settings', data: { layer: 'tenant', tenantId: tenant, applicationId: null } },
    'settingsOf.tenant 2 done.update',
  ],
  [
    {
      entityType: 'settings',
      data: { layer: 'tenant2application', tenantId: tenant, applicationId: application },
    },
    'settingsOf.pair 3 inTenant 2 done.update',
  ],
  [
    { entityType: 'settings', data: { layer: 'project', tenantId: null, applicationId: null } },
    'settingsOf.project done.update',
  ],
  [
    {
      entityType: 'user2tenant',
      action: 'grant',
      description: `user2tenant owner of user of user ${user} granted`,
      values: { tenantId: added(tenant), userId: added(user) },
    },
    'kind.user2tenant owner of user of 1 inTenant 2 done.grant',
  ],
  [
    {
      entityType: 'tenant2Application',
      action: 'create',
      values: { tenantId: added(tenant), applicationId: added(application) },
    },
    'kind.application 3 inTenant 2 done.create',
  ],
  [
    { entityType: 'tenant2Application', values: { enabled: { before: false, after: true } } },
    'kind.tenant2Application 4 done.enable',
  ],
  [{ entityType: 'newKind', description: 'a newer version says this' }, 'a newer version says this'],
  [{ description: 'not in the usual form' }, 'not in the usual form'],
])('the sentence of %j', (values, expected) => {
  expect(say(values)).toBe(expected)
})

test('the owners of a membership come from its values and its description', () => {
  const grant = createEntry({
    entityType: 'user2project',
    action: 'revoke',
    description: `user2project tester of user ${user} revoked`,
    values: { tenantId: { before: tenant, after: null } },
  })
  expect(findOwners(grant)).toEqual({ tenant, application: null, user })
})

test.each([
  [null, null],
  ['', ''],
  ['text', 'text'],
  [['en', 'de'], '["en", "de"]'],
  [7, '7'],
  [{ a: 1 }, '{"a":1}'],
])('the recorded value %j is shown as %j', (value, expected) => {
  expect(formatValue(value)).toBe(expected)
})
