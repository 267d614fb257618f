import * as fc from 'fast-check'
import type { Entry } from 'ldapts'
import { describe, expect, test } from 'vitest'
import { isFilter } from '../../config/ldap-readers.ts'
import { createSearchFilter, decodeGuid, encodeGuid, escapeFilterValue, readPerson } from './ldap-people.ts'

const attributes = { id: 'entryUUID', username: 'uid', email: 'mail', name: 'cn', disabled: null }
const id = '01020304-0506-4708-890a-0b0c0d0e0f10'
const base: Entry = { dn: 'uid=ann', entryUUID: id, uid: 'ann', mail: 'ann@example.org', cn: 'Ann' }
const read = (changes: Partial<Entry>, more: object = {}) =>
  readPerson({ ...base, ...changes } as Entry, { ...attributes, ...more })

describe('an entry', () => {
  test('becomes a user, whatever the case of its attribute names', () => {
    const user = { id, username: 'ann', email: 'ann@example.org', displayName: 'Ann', disabled: false }
    expect(read({})).toEqual(user)
    const other = {
      dn: '',
      ENTRYUUID: id.toUpperCase(),
      UID: ['ann', 'b'],
      Mail: ['ann@example.org'],
      CN: 'Ann',
    }
    expect(readPerson(other, attributes)).toEqual(user)
  })

  test('without exactly one valid UUID is left out', () => {
    for (const entryUUID of [[], '', 'ann', [id, id], `${id}0`, Buffer.from(id), `{${id}}`])
      expect(read({ entryUUID })).toBeNull()
  })

  test('is bounded, and garbage in it is ignored', () => {
    expect(read({ cn: 'x'.repeat(10_000) })?.displayName).toHaveLength(200)
    expect(read({ cn: ` \u0000Ann\n\tB${String.fromCharCode(0x9b)} ` })?.displayName).toBe('Ann B')
    expect(read({ cn: `${'x'.repeat(199)}😀` })?.displayName).toHaveLength(200)
    expect(read({ cn: [Buffer.from([0xff, 0xfe])] })?.displayName).toBe('')
    for (const mail of ['ann', 'a b@c', `${'x'.repeat(320)}@b`, Buffer.from([0xff]), 'a@b@c', []])
      expect(read({ mail })?.email).toBe('')
    expect(read({ mail: ['broken', 'ann@example.org'] })?.email).toBe('ann@example.org')
    expect(read({ uid: 'x'.repeat(321) })?.username).toBe('ann@example.org')
    expect(read({ uid: [], mail: [] })?.username).toBe(id)
  })

  test('is disabled by a boolean attribute, and in doubt', () => {
    const isDisabled = (value: string | string[] | Buffer) =>
      read({ accountDisabled: value }, { disabled: 'accountDisabled' })?.disabled
    for (const value of ['FALSE', 'false', []]) expect([value, isDisabled(value)]).toEqual([value, false])
    for (const value of ['TRUE', 'true', 'maybe', '', Buffer.from([0xff])])
      expect([value, isDisabled(value)]).toEqual([value, true])
  })

  test('is disabled by bit 2 of userAccountControl', () => {
    const isDisabled = (value: string | string[]) =>
      read({ userAccountControl: value }, { disabled: 'useraccountcontrol' })?.disabled
    for (const value of ['512', '66048', '0', '-4', []])
      expect([value, isDisabled(value)]).toEqual([value, false])
    for (const value of ['514', '66050', '2', '-2147483646', 'x', '', '9'.repeat(40)])
      expect([value, isDisabled(value)]).toEqual([value, true])
  })
})

describe('an objectGUID', () => {
  // The example of the Microsoft documentation for the byte order of GUIDs.
  const bytes = Buffer.from('040302010605084789 0a0b0c0d0e0f10'.replace(' ', ''), 'hex')

  test('has its first three groups in little-endian order', () => {
    expect(decodeGuid(bytes)).toBe(id)
    expect(encodeGuid(id)).toEqual(bytes)
    const user = readPerson({ dn: '', objectGUID: bytes, cn: 'Ann' }, { ...attributes, id: 'objectGUID' })
    expect(user?.id).toBe(id)
  })

  test('is read where its bytes are valid text', () => {
    const asText = Buffer.from('abcdefghijklmnop')
    const user = readPerson({ dn: '', objectGUID: 'abcdefghijklmnop' }, { ...attributes, id: 'objectGUID' })
    expect(user?.id).toBe(decodeGuid(asText))
  })

  test('of another length is none', () => {
    for (const length of [0, 15, 17, 36]) expect(decodeGuid(Buffer.alloc(length))).toBeNull()
  })

  test('survives both directions', () => {
    fc.assert(
      fc.property(fc.uuid(), (one) => {
        expect(decodeGuid(encodeGuid(one))).toBe(one)
      }),
    )
  })
})

// Characters with a meaning in filters, placeholders or replacements, and text outside of the basic plane.
const hostile = [...Array.from('a*()\\\0{}=&|!$`<>~:ü😀\u202e'), '\ud800']

describe('a search text', () => {
  const filters = { userFilter: '(objectClass=person)', searchFilter: null }

  test('is searched inside of the three fields, or at their start if it is short', () => {
    expect(createSearchFilter(filters, attributes, 'ann')).toBe(
      '(&(objectClass=person)(|(cn=*ann*)(uid=*ann*)(mail=*ann*)))',
    )
    expect(createSearchFilter(filters, attributes, '😀a')).toBe(
      '(&(objectClass=person)(|(cn=😀a*)(uid=😀a*)(mail=😀a*)))',
    )
  })

  test('replaces each placeholder of the template once', () => {
    const template = { ...filters, searchFilter: '(|(anr={text})(cn={pattern}))' }
    expect(createSearchFilter(template, attributes, '{pattern}')).toBe(
      '(&(objectClass=person)(|(anr={pattern})(cn=*{pattern}*)))',
    )
    expect(createSearchFilter(template, attributes, '$&$1')).toContain('(cn=*$&$1*)')
  })

  test('is always one value: the filter has the same structure for every text', () => {
    const structureOf = (filter: string) => filter.replaceAll(/=[^()]*/g, '')
    const expected = structureOf(createSearchFilter(filters, attributes, 'ann'))
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...hostile), minLength: 1, maxLength: 40 }), (text) => {
        const filter = createSearchFilter(filters, attributes, text)
        expect(structureOf(filter)).toBe(expected)
        expect(isFilter(filter)).toBe(true)
        expect(/[\\*()\0]/.test(escapeFilterValue(text).replaceAll(/\\(?:2a|28|29|5c|00)/g, ''))).toBe(false)
      }),
    )
  })
})
