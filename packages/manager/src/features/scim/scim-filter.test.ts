// Tests how filters and paths are parsed, and their limits.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../platform/errors.ts'
import { type Filter, filterLimits, parseFilter, parsePatchPath, pathLimits } from './scim-filter.pure.ts'

const path = (name: string, sub: string | null = null) => ({ name, sub })
const equals = (name: string, value: string): Filter => ({
  kind: 'compare',
  path: path(name),
  operator: 'eq',
  value,
})

/** Returns `scimType` and the message of the error. */
function refusal(parse: () => unknown): [unknown, string] {
  try {
    parse()
  } catch (error) {
    if (error instanceof AppError) return [error.details['scimType'], error.message]
    throw error
  }
  return [null, 'accepted']
}

describe('filters', () => {
  test('[scim.filter] the examples of RFC 7644 are parsed', () => {
    const accepted = [
      'userName eq "bjensen"',
      `name.familyName co "O'Malley"`,
      'userName sw "J"',
      'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"',
      'title pr',
      'meta.lastModified gt "2011-05-13T04:42:34Z"',
      'title pr and userType eq "Employee"',
      'title pr or userType eq "Intern"',
      'schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"',
      'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")',
      'userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")',
      'userType eq "Employee" and (emails.type eq "work")',
      'userType eq "Employee" and emails[type eq "work" and value co "@example.com"]',
      'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
    ]
    expect(accepted.filter((text) => refusal(() => parseFilter(text))[0] !== null)).toEqual([])
  })

  test('and binds stronger than or, and parentheses override both', () => {
    const [a, b, c] = [equals('a', '1'), equals('b', '2'), equals('c', '3')]
    expect(parseFilter('a eq "1" or b eq "2" and c eq "3"')).toEqual({
      kind: 'or',
      filters: [a, { kind: 'and', filters: [b, c] }],
    })
    expect(parseFilter('(a eq "1" or b eq "2") and c eq "3"')).toEqual({
      kind: 'and',
      filters: [{ kind: 'or', filters: [a, b] }, c],
    })
    expect(parseFilter('not (a eq "1") and b eq "2"')).toEqual({
      kind: 'and',
      filters: [{ kind: 'not', filter: a }, b],
    })
  })

  test('names, operators and keywords ignore case, and values keep it', () => {
    expect(parseFilter('USERNAME EQ "Ann" AND NOT (Active Eq True)')).toEqual({
      kind: 'and',
      filters: [
        equals('username', 'Ann'),
        { kind: 'not', filter: { kind: 'compare', path: path('active'), operator: 'eq', value: true } },
      ],
    })
  })

  test('values are JSON: escapes, numbers, booleans and null', () => {
    const valueOf = (text: string): unknown => (parseFilter(`a eq ${text}`) as { value?: unknown }).value
    expect(['"a\\"b\\u0041\\\\"', '-1.5e2', 'true', 'FALSE', 'null'].map(valueOf)).toEqual([
      'a"bA\\',
      -150,
      true,
      false,
      null,
    ])
  })

  test('the URN of the user schema is left out, and that of another schema is part of the name', () => {
    expect(parseFilter('urn:ietf:params:scim:schemas:core:2.0:User:name.givenName pr')).toMatchObject({
      path: path('name', 'givenname'),
    })
    expect(parseFilter('urn:example:2.0:User:manager.value pr')).toMatchObject({
      path: path('urn:example:2.0:user:manager.value'),
    })
  })

  test('a sub-attribute after the brackets is a comparison of the selected value', () => {
    expect(parseFilter('emails[type eq "work"].value eq "a@b.c"')).toEqual({
      kind: 'element',
      path: path('emails'),
      filter: { kind: 'and', filters: [equals('type', 'work'), equals('value', 'a@b.c')] },
    })
  })

  test('[scim.filter] a malformed filter answers invalidFilter', () => {
    const malformed = [
      '',
      ' ',
      'userName',
      'userName eq',
      'userName eq jyoung',
      "userName eq 'jyoung'",
      'userName is "x"',
      'userName eq "x" userName eq "y"',
      'userName eq "x" and',
      'and userName eq "x"',
      '(userName eq "x"',
      'userName eq "x")',
      'not userName eq "x"',
      'emails[type eq "work"',
      'emails[]',
      'emails[type eq "work"].',
      'emails[type eq "work"].a.b eq "x"',
      'emails[a[b eq "c"]]',
      'name.givenName[a eq "b"]',
      'a.b.c eq "x"',
      'a. eq "x"',
      'userName eq "x',
      'userName eq "\\x"',
      'userName eq "a\nb"',
      'userName\teq "x"',
      'userName eq [1]',
      'userName eq "x"; drop table users; --',
    ]
    const accepted = malformed.filter((text) => refusal(() => parseFilter(text))[0] !== 'invalidFilter')
    expect(accepted).toEqual([])
    expect(refusal(() => parseFilter('userName eq jyoung'))[1]).toBe(
      'the filter is malformed: expected a value: a text in double quotes, a number, true, false or null at character 13',
    )
  })

  test('[scim.filter-limits] length, nesting and comparisons are limited', () => {
    const { length, depth, comparisons } = filterLimits
    const nested = (levels: number): string => `${'('.repeat(levels)}a pr${')'.repeat(levels)}`
    const many = (count: number): string => Array.from({ length: count }, () => 'a pr').join(' or ')
    const long = (count: number): string => `a eq "${'x'.repeat(count - 7)}"`
    for (const [accepted, refused] of [
      [nested(depth), nested(depth + 1)],
      [many(comparisons), many(comparisons + 1)],
      [long(length), long(length + 1)],
    ] as const)
      expect([refusal(() => parseFilter(accepted))[0], refusal(() => parseFilter(refused))[0]]).toEqual([
        null,
        'invalidFilter',
      ])
  })

  test('[scim.filter-limits] hostile texts are refused like any other', () => {
    const part = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '.',
      '"',
      '\\',
      '\n',
      ' ',
      'not',
      'and',
      'or',
      'a',
      'eq',
      'pr',
      '1',
      '-',
      'é',
      '\0',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 400 }), (parts) => {
        const [scimType] = refusal(() => parseFilter(parts.join('')))
        expect([null, 'invalidFilter']).toContain(scimType)
      }),
    )
    const hostile = [
      '('.repeat(2_000),
      `"${'\n'.repeat(1_990)}`,
      `a eq "${'\\'.repeat(1_990)}`,
      'not('.repeat(500),
    ]
    for (const text of hostile) expect(refusal(() => parseFilter(text))[0]).toBe('invalidFilter')
  })
})

describe('paths of patch operations', () => {
  test('[scim.patch] a path is an attribute, a sub-attribute, or values that a filter selects', () => {
    expect(parsePatchPath('userName')).toEqual({ path: path('username'), filter: null })
    expect(parsePatchPath('name.familyName')).toEqual({ path: path('name', 'familyname'), filter: null })
    expect(parsePatchPath('emails[type eq "work"]')).toEqual({
      path: path('emails'),
      filter: equals('type', 'work'),
    })
    expect(parsePatchPath('emails[type eq "work"].value')).toEqual({
      path: path('emails', 'value'),
      filter: equals('type', 'work'),
    })
  })

  test('[scim.patch] a malformed path answers invalidPath', () => {
    const malformed = [
      'emails[',
      'emails]',
      'emails[type]',
      'a b',
      'emails[type eq "x"] pr',
      'a..b',
      '1',
      '"a"',
    ]
    expect(malformed.filter((text) => refusal(() => parsePatchPath(text))[0] !== 'invalidPath')).toEqual([])
  })

  test('[scim.patch-limits] length and comparisons of a path are limited', () => {
    const many = (count: number): string => `a[${Array.from({ length: count }, () => 'b pr').join(' or ')}]`
    const { comparisons, length } = pathLimits
    expect(refusal(() => parsePatchPath(many(comparisons)))[0]).toBe(null)
    expect(refusal(() => parsePatchPath(many(comparisons + 1)))[0]).toBe('invalidPath')
    expect(refusal(() => parsePatchPath('a'.repeat(length)))[0]).toBe(null)
    expect(refusal(() => parsePatchPath('a'.repeat(length + 1)))[0]).toBe('invalidPath')
  })
})
