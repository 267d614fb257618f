// Tests how users are read from request bodies and rendered in responses, without a database.
import { describe, expect, test } from 'vitest'
import { AppError } from '../../platform/errors.ts'
import {
  matchesVersion,
  pageLimits,
  parseSelection,
  readPage,
  renderUser,
  type ScimResource,
} from './scim-resource.pure.ts'
import { assertSameSubject, describePerson, readSubject, readUser } from './scim-user.pure.ts'

const id = '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'
const body = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  externalId: id.toUpperCase(),
  userName: 'Ann@example.com',
  active: true,
  emails: [{ primary: true, type: 'work', value: 'ann@example.com' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Ann Archer', familyName: 'Archer', givenName: 'Ann' },
  roles: [],
  title: null,
}
const user = readUser(body, null)

const scimTypeOf = (read: () => unknown): unknown => {
  try {
    read()
  } catch (error) {
    if (error instanceof AppError) return error.details['scimType']
    throw error
  }
  return null
}

describe('request bodies', () => {
  test('[scim.create] known attributes are read as they were sent, and others are ignored', () => {
    expect(user).toEqual({
      userName: 'Ann@example.com',
      externalId: id.toUpperCase(),
      displayName: null,
      formatted: 'Ann Archer',
      givenName: 'Ann',
      familyName: 'Archer',
      emails: [{ value: 'ann@example.com', type: 'work', primary: true, display: null }],
      active: true,
    })
    expect(readUser({ USERNAME: 'b', Name: { GivenName: 'B' }, Emails: ['b@c.d'] }, null)).toMatchObject({
      userName: 'b',
      givenName: 'B',
      emails: [{ value: 'b@c.d', type: null, primary: false }],
      active: true,
    })
  })

  test('[scim.errors] values that break a rule are refused', () => {
    const read = (change: object) => scimTypeOf(() => readUser({ ...body, ...change }, null))
    expect(read({ userName: '' })).toBe('invalidValue')
    expect(read({ userName: undefined })).toBe('invalidValue')
    expect(read({ userName: 'a'.repeat(321) })).toBe('invalidValue')
    expect(read({ userName: ['a'] })).toBe('invalidValue')
    expect(read({ displayName: 'a'.repeat(201) })).toBe('invalidValue')
    expect(read({ displayName: '\ud800' })).toBe('invalidValue')
    expect(read({ active: 'yes' })).toBe('invalidValue')
    expect(read({ active: 1 })).toBe('invalidValue')
    expect(read({ emails: Array.from({ length: 21 }, () => 'a') })).toBe('invalidValue')
    expect(read({ emails: [7] })).toBe('invalidSyntax')
    expect(read({ name: 'Ann' })).toBe('invalidSyntax')
    for (const text of [null, 'x', [], 7])
      expect(scimTypeOf(() => readUser(text, null))).toBe('invalidSyntax')
  })

  test('[scim.replace] a PUT clears absent attributes, but keeps an absent externalId and active', () => {
    const previous = { ...user, displayName: 'Ann', active: false }
    expect(readUser({ userName: 'b' }, previous)).toEqual({
      userName: 'b',
      externalId: user.externalId,
      displayName: null,
      formatted: null,
      givenName: null,
      familyName: null,
      emails: [],
      active: false,
    })
    expect(readUser({ userName: 'b', externalId: null, active: true }, previous)).toMatchObject({
      externalId: null,
      active: true,
    })
  })

  test('[scim.subject] the subject is a UUID, which cannot change', () => {
    expect(readSubject(user, 'externalId')).toBe(id)
    expect(scimTypeOf(() => readSubject(user, 'userName'))).toBe('invalidValue')
    expect(() => readSubject({ ...user, externalId: '00ujl29u0le5T6Aj10h7' }, 'externalId')).toThrow(
      'externalId must be the UUID that the proxy sends as the subject of the person (X-Token-Subject)',
    )
    const other = { ...user, externalId: id.replace('0', '1') }
    expect(scimTypeOf(() => assertSameSubject(other, 'externalId', id))).toBe('mutability')
    expect(scimTypeOf(() => assertSameSubject(user, 'externalId', id))).toBe(null)
  })

  test('people see the display name, or else the name, and the primary e-mail address', () => {
    const work = { value: 'w', type: 'Work', primary: false, display: null }
    const other = { value: 'o', type: null, primary: false, display: null }
    expect(describePerson(user)).toEqual({
      name: 'Ann Archer',
      username: 'Ann@example.com',
      email: 'ann@example.com',
    })
    expect(describePerson({ ...user, displayName: 'A', emails: [other, work] })).toMatchObject({
      name: 'A',
      email: 'w',
    })
    expect(describePerson({ ...user, formatted: null, emails: [other] })).toMatchObject({
      name: 'Ann Archer',
      email: 'o',
    })
    const long = '𝒜'.repeat(150)
    expect(
      Array.from(describePerson({ ...user, formatted: null, givenName: long, familyName: long }).name),
    ).toHaveLength(200)
    expect(
      describePerson({ ...user, formatted: null, givenName: null, familyName: null, emails: [] }),
    ).toMatchObject({ name: '', email: '' })
  })
})

describe('responses', () => {
  const resource: ScimResource = {
    ...user,
    id,
    displayName: null,
    createdAt: '2026-11-01T00:00:00.000Z',
    updatedAt: '2026-11-02T00:00:00.000Z',
    revision: 3,
  }
  const render = (attributes?: string, excludedAttributes?: string) =>
    renderUser(resource, 'https://manager.example/scim/v2', parseSelection(attributes, excludedAttributes))

  test('[scim.read] attributes without a value are left out', () => {
    expect(render()).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id,
      externalId: id.toUpperCase(),
      userName: 'Ann@example.com',
      name: { formatted: 'Ann Archer', familyName: 'Archer', givenName: 'Ann' },
      emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
      active: true,
      meta: {
        resourceType: 'User',
        created: '2026-11-01T00:00:00.000Z',
        lastModified: '2026-11-02T00:00:00.000Z',
        location: `https://manager.example/scim/v2/Users/${id}`,
        version: 'W/"3"',
      },
    })
  })

  test('[scim.read] attributes and excludedAttributes select the attributes', () => {
    expect(render('userName, NAME.givenName,emails.value,title')).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id,
      userName: 'Ann@example.com',
      name: { givenName: 'Ann' },
      emails: [{ value: 'ann@example.com' }],
    })
    expect(
      render(
        '',
        'id,emails,name.formatted,meta,externalId,urn:ietf:params:scim:schemas:core:2.0:User:active',
      ),
    ).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id,
      userName: 'Ann@example.com',
      name: { familyName: 'Archer', givenName: 'Ann' },
    })
    expect(render('id', 'id')).toEqual({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], id })
    expect(scimTypeOf(() => parseSelection('a,'.repeat(1_001)))).toBe('invalidValue')
  })

  test('[scim.etag] a version matches weak and strong tags, lists and *', () => {
    const matching = ['W/"3"', '"3"', '"1", W/"3"', '*', ' * ']
    expect(matching.filter((header) => !matchesVersion(header, 3))).toEqual([])
    expect(['W/"4"', '3', '"33"', '', 'W/"3'].filter((header) => matchesVersion(header, 3))).toEqual([])
  })

  test('[scim.read] startIndex and count become the nearest valid value', () => {
    expect(readPage(undefined, undefined)).toEqual({ startIndex: 1, count: pageLimits.defaultCount })
    expect(readPage('0', '-5')).toEqual({ startIndex: 1, count: 0 })
    expect(readPage('999999999999', '100000')).toEqual({
      startIndex: 2_147_483_647,
      count: pageLimits.maxCount,
    })
    expect(scimTypeOf(() => readPage('x', '1'))).toBe('invalidValue')
    expect(scimTypeOf(() => readPage('1', '1.5'))).toBe('invalidValue')
  })
})
