// Tests how patch operations change a user, without a database.
import { describe, expect, test } from 'vitest'
import { AppError } from '../../platform/errors.ts'
import { emailLimits } from './scim-attributes.pure.ts'
import { patchLimits } from './scim-patch-operations.pure.ts'
import { applyPatch, parsePatch } from './scim-patch.pure.ts'
import type { ScimEmail, ScimUser } from './scim-user.pure.ts'

const work: ScimEmail = { value: 'ann@work.example', type: 'work', primary: true, display: null }
const home: ScimEmail = { value: 'ann@home.example', type: 'home', primary: false, display: null }
const ann: ScimUser = {
  userName: 'ann',
  externalId: null,
  displayName: 'Ann',
  formatted: null,
  givenName: 'Ann',
  familyName: 'Archer',
  emails: [work, home],
  active: true,
}

const patch = (...operations: unknown[]): ScimUser => applyPatch(ann, parsePatch({ Operations: operations }))
const refusal = (...operations: unknown[]): unknown => {
  try {
    patch(...operations)
  } catch (error) {
    if (error instanceof AppError) return error.details['scimType']
    throw error
  }
  return null
}

describe('single-valued attributes', () => {
  test('[scim.patch] replace and add set a value, and remove clears it', () => {
    expect(patch({ op: 'replace', path: 'displayName', value: 'A' })).toEqual({ ...ann, displayName: 'A' })
    expect(patch({ op: 'add', path: 'externalId', value: 'x' })).toEqual({ ...ann, externalId: 'x' })
    expect(patch({ op: 'remove', path: 'displayName' })).toEqual({ ...ann, displayName: null })
    expect(patch({ op: 'remove', path: 'name.givenName' })).toEqual({ ...ann, givenName: null })
    expect(patch({ op: 'remove', path: 'name' })).toEqual({ ...ann, givenName: null, familyName: null })
  })

  test('[scim.patch] operation names and attribute names ignore case', () => {
    expect(patch({ op: 'Replace', path: 'DISPLAYNAME', value: 'A' })).toEqual({ ...ann, displayName: 'A' })
    expect(patch({ OP: 'ADD', Path: 'userName', Value: 'b' })).toEqual({ ...ann, userName: 'b' })
  })

  test('[scim.patch] an operation without a path changes the attributes in its value', () => {
    const value = {
      displayName: 'A',
      'name.givenName': 'B',
      'urn:ietf:params:scim:schemas:core:2.0:User:externalId': 'c',
      'emails[type eq "work"].value': 'd@e.f',
      active: false,
    }
    expect(patch({ op: 'replace', value })).toEqual({
      ...ann,
      displayName: 'A',
      givenName: 'B',
      externalId: 'c',
      active: false,
      emails: [{ ...work, value: 'd@e.f' }, home],
    })
  })

  test('a complex value changes only the sub-attributes that it contains', () => {
    expect(patch({ op: 'replace', path: 'name', value: { familyName: 'B' } })).toEqual({
      ...ann,
      familyName: 'B',
    })
    expect(patch({ op: 'add', value: { name: { formatted: 'Ann B' } } })).toEqual({
      ...ann,
      formatted: 'Ann B',
    })
  })

  test('[scim.entra] the texts "False" and "True" are booleans', () => {
    expect(patch({ op: 'Replace', path: 'active', value: 'False' }).active).toBe(false)
    expect(patch({ op: 'Replace', path: 'active', value: 'True' }).active).toBe(true)
    expect(patch({ op: 'replace', value: { active: false } }).active).toBe(false)
    expect(refusal({ op: 'replace', path: 'active', value: 'no' })).toBe('invalidValue')
    expect(refusal({ op: 'replace', path: 'active', value: null })).toBe('invalidValue')
  })

  test('a later operation wins', () => {
    const set = (value: string) => ({ op: 'replace', path: 'displayName', value })
    expect(patch(set('a'), set('b')).displayName).toBe('b')
  })

  test('[scim.patch] operations on unknown attributes change nothing', () => {
    expect(
      patch(
        { op: 'Add', path: 'manager', value: [{ value: 'x' }] },
        { op: 'replace', path: 'addresses[type eq "work"].formatted', value: 'x' },
        { op: 'replace', path: 'name.middleName', value: 'x' },
        { op: 'replace', path: 'emails[type eq "work"].$ref', value: 'x' },
        { op: 'remove', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber' },
        { op: 'replace', value: { title: 'x', __proto__: { active: false }, id: 'y', 'a..b': 1 } },
      ),
    ).toEqual(ann)
  })

  test('[scim.patch] values that break a rule, read-only attributes and missing targets are refused', () => {
    expect(refusal({ op: 'remove', path: 'userName' })).toBe('mutability')
    expect(refusal({ op: 'remove', path: 'active' })).toBe('mutability')
    expect(refusal({ op: 'replace', path: 'id', value: 'x' })).toBe('mutability')
    expect(refusal({ op: 'replace', path: 'meta.created', value: 'x' })).toBe('mutability')
    expect(refusal({ op: 'replace', path: 'userName', value: ' ' })).toBe('invalidValue')
    expect(refusal({ op: 'replace', path: 'userName', value: 'a'.repeat(321) })).toBe('invalidValue')
    expect(refusal({ op: 'replace', path: 'displayName', value: 7 })).toBe('invalidValue')
    expect(refusal({ op: 'replace', path: 'displayName', value: 'a\0' })).toBe('invalidValue')
    expect(refusal({ op: 'replace', path: 'userName[type eq "x"]', value: 'x' })).toBe('invalidPath')
    expect(refusal({ op: 'remove' })).toBe('noTarget')
    expect(refusal({ op: 'replace', path: 'displayName' })).toBe('invalidSyntax')
    expect(refusal({ op: 'replace', value: 'x' })).toBe('invalidSyntax')
    expect(refusal({ op: 'move', path: 'displayName', value: 'x' })).toBe('invalidSyntax')
    expect(refusal({ op: 'replace', path: 7, value: 'x' })).toBe('invalidPath')
    expect(refusal('x')).toBe('invalidSyntax')
    expect(refusal()).toBe('invalidSyntax')
  })
})

describe('e-mail addresses', () => {
  const email = (value: string, type: string | null = null, primary = false): ScimEmail => ({
    value,
    type,
    primary,
    display: null,
  })

  test('[scim.patch] add appends, replace replaces all, and remove removes all or the named ones', () => {
    const added = { op: 'add', path: 'emails', value: [{ value: 'x@y.z' }] }
    expect(patch(added).emails).toEqual([work, home, email('x@y.z')])
    expect(patch({ ...added, op: 'replace' }).emails).toEqual([email('x@y.z')])
    expect(patch({ op: 'remove', path: 'emails' }).emails).toEqual([])
    expect(patch({ op: 'remove', path: 'emails', value: [{ value: 'ANN@home.example' }] }).emails).toEqual([
      work,
    ])
  })

  test('[scim.patch] a filter selects the addresses to change or remove', () => {
    const change = (path: string, value: unknown) => patch({ op: 'replace', path, value }).emails
    expect(change('emails[type eq "WORK"].value', 'x@y.z')).toEqual([{ ...work, value: 'x@y.z' }, home])
    expect(change('emails[value sw "ann@h" and primary eq false]', { type: 'other' })).toEqual([
      work,
      { ...home, type: 'other' },
    ])
    expect(patch({ op: 'remove', path: 'emails[not (type eq "work")]' }).emails).toEqual([work])
    expect(patch({ op: 'remove', path: 'emails[type eq "home"].value' }).emails).toEqual([work])
    expect(patch({ op: 'remove', path: 'emails[type eq "home"].type' }).emails).toEqual([
      work,
      { ...home, type: null },
    ])
    expect(patch({ op: 'remove', path: 'emails[type eq "fax"]' }).emails).toEqual([work, home])
  })

  test('[scim.entra] a filter of equalities that selects nothing describes a new address', () => {
    expect(patch({ op: 'Add', path: 'emails[type eq "other"].value', value: 'x@y.z' }).emails).toEqual([
      work,
      home,
      email('x@y.z', 'other'),
    ])
    expect(patch({ op: 'Replace', path: 'emails[type eq "other"].value', value: null }).emails).toEqual([
      work,
      home,
    ])
    expect(refusal({ op: 'replace', path: 'emails[type sw "oth"].value', value: 'x@y.z' })).toBe('noTarget')
    expect(refusal({ op: 'replace', path: 'emails[type eq "other"].display', value: 'x' })).toBe('noTarget')
  })

  test('[scim.patch] only one address is primary', () => {
    expect(patch({ op: 'replace', path: 'emails[type eq "home"].primary', value: true }).emails).toEqual([
      { ...work, primary: false },
      { ...home, primary: true },
    ])
    expect(patch({ op: 'add', path: 'emails', value: { value: 'x@y.z', primary: true } }).emails).toEqual([
      { ...work, primary: false },
      home,
      email('x@y.z', null, true),
    ])
    expect(patch({ op: 'replace', path: 'emails.primary', value: 'true' }).emails).toEqual([work, home])
    const two = [
      { value: 'a', primary: true },
      { value: 'b', primary: true },
    ]
    expect(refusal({ op: 'replace', path: 'emails', value: two })).toBe('invalidValue')
  })

  test('an address with the same value and type is not added twice', () => {
    const added = {
      op: 'add',
      path: 'emails',
      value: [{ value: 'ANN@work.example', type: 'work', primary: true }],
    }
    expect(patch(added, added).emails).toEqual([{ ...work, value: 'ANN@work.example' }, home])
  })
})

describe('limits', () => {
  test('[scim.patch-limits] the operations, the changed attributes and the addresses are limited', () => {
    const set = { op: 'replace', path: 'displayName', value: 'x' }
    const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one)
    expect(refusal(...times(patchLimits.operations, set))).toBe(null)
    expect(refusal(...times(patchLimits.operations + 1, set))).toBe('invalidValue')
    const names = { name: { formatted: 'a', givenName: 'b', familyName: 'c' } }
    expect(refusal(...times(67, { op: 'replace', value: names }))).toBe('invalidValue')
    const emails = Array.from({ length: emailLimits.count - 1 }, (_, index) => ({ value: `e${index}` }))
    expect(refusal({ op: 'add', path: 'emails', value: emails.slice(1) })).toBe(null)
    expect(refusal({ op: 'add', path: 'emails', value: emails })).toBe('invalidValue')
    expect(refusal({ op: 'add', path: 'emails', value: times(emailLimits.count + 1, { value: 'x' }) })).toBe(
      'invalidValue',
    )
  })

  test('applying a patch leaves the original user unchanged', () => {
    const before = structuredClone(ann)
    patch(
      { op: 'replace', path: 'emails.type', value: 'x' },
      { op: 'remove', path: 'emails[type eq "x"]' },
      { op: 'remove', path: 'name' },
    )
    expect(ann).toEqual(before)
  })
})
