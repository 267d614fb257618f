// Tests how patch operations on a group become one edit of its members, without a database.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../platform/errors.ts'
import { type MemberEdits, parseGroupPatch } from './scim-group-patch.pure.ts'
import { maxMembers, readGroup } from './scim-group.pure.ts'
import { patchLimits } from './scim-patch-operations.pure.ts'

const idOf = (index: number): string => `0b54bc1c-2b1f-4a68-9a55-${String(index).padStart(12, '0')}`
const [a, b, c] = [idOf(1), idOf(2), idOf(3)]
const values = (...ids: string[]) => ids.map((value) => ({ value }))
const parse = (...operations: unknown[]) => parseGroupPatch({ Operations: operations })
const editsOf = (...operations: unknown[]): MemberEdits => parse(...operations).edits
const edits = (change: Partial<MemberEdits>): MemberEdits => ({
  isReplaced: false,
  added: [],
  removed: [],
  ...change,
})
const refusalOf = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError) return error.details['scimType']
    throw error
  }
  return null
}
const refusal = (...operations: unknown[]): unknown => refusalOf(() => parse(...operations))

describe('members', () => {
  test('[scim.groups-patch] add, replace and remove accept a list, one object and plain ids', () => {
    expect(editsOf({ op: 'add', path: 'members', value: values(a, b, a) })).toEqual(edits({ added: [a, b] }))
    expect(editsOf({ op: 'Add', path: 'Members', value: { VALUE: a, type: 'user', $ref: null } })).toEqual(
      edits({ added: [a] }),
    )
    expect(editsOf({ op: 'add', path: 'members', value: [a.toUpperCase()] })).toEqual(edits({ added: [a] }))
    expect(editsOf({ op: 'replace', path: 'members', value: values(b) })).toEqual(
      edits({ isReplaced: true, added: [b] }),
    )
    expect(editsOf({ op: 'remove', path: 'members', value: values(a) })).toEqual(edits({ removed: [a] }))
  })

  test('[scim.groups-patch] remove without a value, and replace with an empty list, remove all members', () => {
    const all = edits({ isReplaced: true })
    expect(editsOf({ op: 'remove', path: 'members' })).toEqual(all)
    expect(editsOf({ op: 'remove', path: 'members', value: null })).toEqual(all)
    expect(editsOf({ op: 'replace', path: 'members', value: [] })).toEqual(all)
    expect(editsOf({ op: 'remove', path: 'members', value: [] })).toEqual(edits({}))
    expect(editsOf({ op: 'add', path: 'members', value: [] })).toEqual(edits({}))
  })

  test('[scim.groups-patch] a filter selects members to remove by their ids', () => {
    const remove = (filter: string) => editsOf({ op: 'remove', path: `members[${filter}]` })
    expect(remove(`value eq "${a}"`)).toEqual(edits({ removed: [a] }))
    expect(remove(`VALUE EQ "${a.toUpperCase()}" or value eq "${b}"`)).toEqual(edits({ removed: [a, b] }))
    expect(remove('value eq "x"')).toEqual(edits({}))
    for (const filter of [
      'value co "a"',
      `not (value eq "${a}")`,
      `value eq "${a}" and value eq "${b}"`,
      'type eq "User"',
      'value eq 7',
      'value pr',
    ])
      expect([filter, refusalOf(() => remove(filter))]).toEqual([filter, 'invalidFilter'])
  })

  test('[scim.groups-patch] later operations win', () => {
    const add = (...ids: string[]) => ({ op: 'add', path: 'members', value: values(...ids) })
    const remove = (...ids: string[]) => ({ op: 'remove', path: 'members', value: values(...ids) })
    expect(editsOf(add(a, b), remove(a))).toEqual(edits({ added: [b], removed: [a] }))
    expect(editsOf(remove(a), add(a))).toEqual(edits({ added: [a] }))
    expect(editsOf(add(a), { op: 'remove', path: 'members' }, add(b))).toEqual(
      edits({ isReplaced: true, added: [b] }),
    )
    expect(editsOf({ op: 'replace', path: 'members', value: values(a, b) }, remove(b, c))).toEqual(
      edits({ isReplaced: true, added: [a] }),
    )
  })

  test('[scim.groups-members] nested groups, values that are not ids, and other edits of a member are refused', () => {
    const add = (value: unknown) => refusal({ op: 'add', path: 'members', value })
    for (const type of ['Group', 'group', '', 7])
      expect([type, add([{ value: a, type }])]).toEqual([type, 'invalidValue'])
    for (const value of ['x', '', null, undefined, 7])
      expect([value, add([{ value }])]).toEqual([value, 'invalidValue'])
    for (const value of ['x', [''], 7, [7], [null], [[a]]])
      expect(['invalidValue', 'invalidSyntax']).toContain(add(value))
    expect(refusal({ op: 'add', path: `members[value eq "${a}"]`, value: values(b) })).toBe('invalidPath')
    expect(refusal({ op: 'replace', path: `members[value eq "${a}"].value`, value: b })).toBe('mutability')
    expect(refusal({ op: 'remove', path: 'members.value' })).toBe('mutability')
    expect(editsOf({ op: 'replace', path: `members[value eq "${a}"].display`, value: 'x' })).toEqual(
      edits({}),
    )
  })
})

describe('other attributes', () => {
  test('[scim.groups-patch] displayName and externalId are changed with and without a path', () => {
    expect(parse({ op: 'Replace', path: 'displayName', value: 'A' })).toEqual({
      displayName: 'A',
      edits: edits({}),
    })
    expect(parse({ op: 'remove', path: 'externalId' }).externalId).toBeNull()
    expect(
      parse({
        op: 'replace',
        value: { id: 'x', schemas: [], DISPLAYNAME: 'B', externalId: 'e', members: values(c), title: 1 },
      }),
    ).toEqual({ displayName: 'B', externalId: 'e', edits: edits({ isReplaced: true, added: [c] }) })
    expect(
      parse({ op: 'add', value: { 'urn:ietf:params:scim:schemas:core:2.0:Group:displayName': 'C' } }),
    ).toMatchObject({ displayName: 'C' })
  })

  test('[scim.groups-patch] operations on unknown attributes change nothing', () => {
    expect(
      parse(
        { op: 'add', path: 'description', value: 'x' },
        { op: 'replace', path: 'displayName.x', value: 'x' },
        { op: 'remove', path: 'urn:example:2.0:Group:owner' },
        { op: 'replace', value: { __proto__: { displayName: 'x' }, 'a..b': 1, constructor: 1 } },
      ),
    ).toEqual({ edits: edits({}) })
  })

  test('[scim.groups-patch] values that break a rule and read-only attributes are refused', () => {
    expect(refusal({ op: 'remove', path: 'displayName' })).toBe('mutability')
    expect(refusal({ op: 'replace', path: 'id', value: 'x' })).toBe('mutability')
    for (const value of ['', ' ', null, 7, 'a\0', 'x'.repeat(201)])
      expect([value, refusal({ op: 'replace', path: 'displayName', value })]).toEqual([value, 'invalidValue'])
    expect(refusal({ op: 'add', path: 'externalId', value: 'x'.repeat(321) })).toBe('invalidValue')
    expect(refusal({ op: 'replace', path: 'displayName[x pr]', value: 'x' })).toBe('invalidPath')
    expect(refusal({ op: 'replace', path: 'members' })).toBe('invalidSyntax')
    expect(refusal({ op: 'remove' })).toBe('noTarget')
    expect(refusal()).toBe('invalidSyntax')
  })
})

describe('bodies and limits', () => {
  test('[scim.groups-create] a body is read; duplicate members count once, and an absent externalId is absent', () => {
    expect(readGroup({ DisplayName: 'A', members: values(a, b, a.toUpperCase()) })).toEqual({
      values: { displayName: 'A' },
      memberIds: [a, b],
    })
    expect(readGroup({ displayName: 'A', externalId: null, members: null })).toEqual({
      values: { displayName: 'A', externalId: null },
      memberIds: [],
    })
    for (const body of [{}, { displayName: ' ' }, { displayName: 'A', members: 'x' }])
      expect(refusalOf(() => readGroup(body))).toBe('invalidValue')
    for (const body of [null, [], 'x']) expect(refusalOf(() => readGroup(body))).toBe('invalidSyntax')
  })

  test('[scim.groups-patch-limits] operations, attributes and members are limited', () => {
    const set = { op: 'replace', path: 'displayName', value: 'x' }
    const many = (count: number) => Array.from({ length: count }, () => set)
    expect(refusal(...many(patchLimits.operations))).toBeNull()
    expect(refusal(...many(patchLimits.operations + 1))).toBe('invalidValue')
    const attributes = (count: number) => ({
      op: 'add',
      value: Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 1])),
    })
    expect(refusal(attributes(patchLimits.edits))).toBeNull()
    expect(refusal(attributes(patchLimits.edits + 1))).toBe('invalidValue')
    const members = (count: number) => Array.from({ length: count }, (_, index) => ({ value: idOf(index) }))
    const add = (count: number) => ({ op: 'add', path: 'members', value: members(count) })
    expect(refusal(add(maxMembers))).toBeNull()
    expect(refusal(add(maxMembers + 1))).toBe('invalidValue')
    expect(refusal(add(maxMembers), { op: 'remove', path: 'members', value: members(1) })).toBe(
      'invalidValue',
    )
    expect(refusalOf(() => readGroup({ displayName: 'A', members: members(maxMembers + 1) }))).toBe(
      'invalidValue',
    )
  })
})

describe('any sequence of operations', () => {
  type Step = {
    op: 'add' | 'replace' | 'remove'
    form: 'list' | 'filter' | 'all' | 'pathless'
    indexes: number[]
  }
  const step: fc.Arbitrary<Step> = fc.record({
    op: fc.constantFrom('add', 'replace', 'remove'),
    form: fc.constantFrom('list', 'filter', 'all', 'pathless'),
    indexes: fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 5 }),
  })

  const toOperation = ({ op, form, indexes }: Step): unknown => {
    const ids = indexes.map(idOf)
    if (op !== 'remove')
      return form === 'pathless'
        ? { op, value: { members: values(...ids) } }
        : { op, path: 'members', value: values(...ids) }
    if (form === 'all') return { op, path: 'members' }
    if (form === 'filter') return { op, path: `members[${ids.map((id) => `value eq "${id}"`).join(' or ')}]` }
    return { op, path: 'members', value: values(...ids) }
  }

  /** Applies one operation to the members, as RFC 7644 describes it. */
  const applyStep = (members: ReadonlySet<string>, { op, form, indexes }: Step): ReadonlySet<string> => {
    const ids = new Set(indexes.map(idOf))
    if (op === 'replace') return ids
    if (op === 'add') return new Set([...members, ...ids])
    return new Set([...members].filter((id) => form !== 'all' && !ids.has(id)))
  }

  test('[scim.groups-patch] has the same result as its operations one after another', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 7 })),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        (start, steps) => {
          const before = new Set(start.map(idOf))
          let expected: ReadonlySet<string> = before
          for (const one of steps) expected = applyStep(expected, one)
          const { isReplaced, added, removed } = editsOf(...steps.map(toOperation))
          const kept = isReplaced ? [] : [...before].filter((id) => !removed.includes(id))
          expect([...new Set([...kept, ...added])].toSorted()).toEqual([...expected].toSorted())
          expect(added.filter((id) => removed.includes(id))).toEqual([])
          expect(isReplaced ? removed : []).toEqual([])
        },
      ),
    )
  })
})
