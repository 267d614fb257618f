import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { abbreviateList } from '../audit/abbreviate.ts'
import { type KeyValuePair, findChangedPairs, checkPairs } from './key-value-pairs.ts'

const pairsOf = (count: number, Value = ''): KeyValuePair[] =>
  Array.from({ length: count }, (_, index) => ({ Key: `key${index}`, Value }))
const bytesIn = (pairs: readonly KeyValuePair[]): number =>
  pairs.reduce((sum, { Key, Value }) => sum + Buffer.byteLength(Key) + Buffer.byteLength(Value), 0)
const check = (pairs: readonly KeyValuePair[]) => checkPairs(pairs, 'things')
const checkOne = (Key: string, Value = 'v') => check([{ Key, Value }])
const digestOf = (text: string): string => `sha256 ${createHash('sha256').update(text).digest('hex')}`

const oddKeys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']

describe('what pairs may hold', () => {
  test('they come back as copies, in their order, without anything else', () => {
    const given = [
      { Key: 'b', Value: '', extra: 1 },
      { Key: 'a', Value: 'x\ty\r\nz' },
      { Key: '🙂 ü', Value: '🙂' },
      ...oddKeys.map((Key) => ({ Key, Value: Key })),
    ].map((pair) => Object.freeze(pair))
    const checked = check(Object.freeze(given))
    expect(checked).toEqual(given.map(({ Key, Value }) => ({ Key, Value })))
    expect(checked).not.toBe(given)
    for (const [index, pair] of checked.entries()) expect(pair).not.toBe(given[index])
    expect(check([])).toEqual([])
  })

  test('10,000 of them pass, one more does not', () => {
    expect(check(pairsOf(10_000))).toHaveLength(10_000)
    expect(() => check(pairsOf(10_001))).toThrow('things must have at most 10000 entries')
  })

  test('keys and values have 2 MiB of bytes together, not of characters', () => {
    const limit = 2 * 1_048_576
    const tooMuch = 'things must contain at most 2097152 bytes of keys and values'
    for (const [unit, size] of [
      ['a', 1],
      ['ü', 2],
      ['🙂', 4],
    ] as const) {
      const fitting = [
        { Key: 'ü', Value: unit.repeat((limit - 8) / size) },
        { Key: '1234', Value: 'é' },
      ]
      expect(bytesIn(fitting)).toBe(limit)
      expect(check(fitting)).toEqual(fitting)
      expect(() => check([...fitting, { Key: 'k', Value: '' }])).toThrow(tooMuch)
      expect(() => check(fitting.with(1, { Key: '1234', Value: 'é.' }))).toThrow(tooMuch)
    }
  })

  test('a key has 1 to 500 characters and is not blank', () => {
    expect(checkOne('k'.repeat(500))).toHaveLength(1)
    for (const key of ['k'.repeat(501), '', ' ', '\t\n', '\u00a0'])
      expect(() => checkOne(key)).toThrow('every Key of things must have 1 to 500 characters')
    expect(checkOne(' k ')).toEqual([{ Key: ' k ', Value: 'v' }])
  })

  test('a key stands once; keys that differ in case, blanks or composition are different', () => {
    expect(() => check([...pairsOf(3), { Key: 'key1', Value: 'other' }])).toThrow(
      'things has the Key "key1" more than once',
    )
    for (const key of oddKeys)
      expect(() => check([key, key].map((Key) => ({ Key, Value: '' })))).toThrow(`"${key}" more than once`)
    const alike = ['a', 'A', ' a', 'a ', 'é', 'e\u0301'].map((Key) => ({ Key, Value: '' }))
    expect(check(alike)).toEqual(alike)
  })

  test('control characters are refused in keys and in values; tabs and line ends are none', () => {
    const broken = 'things must not contain control characters or malformed Unicode'
    const control = [...Array(32).keys(), 127]
      .map((code) => String.fromCharCode(code))
      .filter((character) => !'\t\r\n'.includes(character))
    expect(control).toHaveLength(30)
    for (const character of control) {
      expect(() => checkOne(`a${character}b`)).toThrow(broken)
      expect(() => checkOne('k', `a${character}b`)).toThrow(broken)
    }
    expect(checkOne('a\t\r\nb', 'a\t\r\nb')).toHaveLength(1)
  })

  test('a half of a surrogate pair is refused in keys and in values, a whole one is not', () => {
    const broken = 'things must not contain control characters or malformed Unicode'
    for (const half of ['\ud83d', '\ude42', '\ude42\ud83d']) {
      expect(() => checkOne(`a${half}b`)).toThrow(broken)
      expect(() => checkOne('k', `a${half}b`)).toThrow(broken)
    }
    expect(checkOne('\ud83d\ude42', '\ud83d\ude42')).toEqual([{ Key: '🙂', Value: '🙂' }])
  })
})

describe('what an audit row shows of a change of pairs', () => {
  const anyPairs = fc.uniqueArray(
    fc.record({
      Key: fc.constantFrom('a', 'b', 'c', 'd', ...oddKeys),
      Value: fc.constantFrom('', '1', '2'),
    }),
    { selector: ({ Key }) => Key },
  )

  test('exactly the pairs that differ, each with the value it had and the one it has', () => {
    fc.assert(
      fc.property(anyPairs, anyPairs, (before, after) => {
        const shown = findChangedPairs('field', before, after)
        for (const [side, own, other] of [
          [shown.before, before, after],
          [shown.after, after, before],
        ] as const) {
          const differing = own.filter(
            (pair) => !other.some(({ Key, Value }) => Key === pair.Key && Value === pair.Value),
          )
          expect(new Map(Object.entries(side))).toEqual(
            new Map(differing.map(({ Key, Value }) => [`field.${Key}`, Value])),
          )
        }
      }),
    )
  })

  test('a new pair has no value before, a removed one none after, and an empty value is a value', () => {
    expect(
      findChangedPairs(
        'f',
        [{ Key: 'gone', Value: '' }, ...pairsOf(2)],
        [...pairsOf(2), { Key: 'new', Value: '' }],
      ),
    ).toEqual({ before: { 'f.gone': '' }, after: { 'f.new': '' } })
    expect(findChangedPairs('f', [], [])).toEqual({ before: {}, after: {} })
  })

  test('the order of pairs is no change', () => {
    expect(findChangedPairs('f', pairsOf(5, 'v'), pairsOf(5, 'v').toReversed())).toEqual({
      before: {},
      after: {},
    })
  })

  test('values and keys of more than 200 characters are cut and told by their digest', () => {
    const [full, long, longer] = ['v'.repeat(200), 'v'.repeat(201), 'v'.repeat(100_000)]
    expect(findChangedPairs('f', [{ Key: 'k', Value: full }], [{ Key: 'k', Value: long }])).toEqual({
      before: { 'f.k': full },
      after: { 'f.k': `${full}… (${digestOf(long)})` },
    })
    const alike = findChangedPairs('f', [{ Key: 'k', Value: long }], [{ Key: 'k', Value: longer }])
    expect(alike.before['f.k']).not.toBe(alike.after['f.k'])
    const keys = ['a', 'b'].map((end) => 'k'.repeat(300) + end)
    const { after } = findChangedPairs(
      'f',
      [],
      keys.map((Key) => ({ Key, Value: Key.slice(-1) })),
    )
    expect(after).toEqual({
      [`f.${'k'.repeat(200)}… (${digestOf(keys[0] ?? '')})`]: 'a',
      [`f.${'k'.repeat(200)}… (${digestOf(keys[1] ?? '')})`]: 'b',
    })
  })

  test('a cut never leaves half of a character', () => {
    const long = `${'v'.repeat(199)}🙂🙂`
    const { after } = findChangedPairs('f', [], [{ Key: 'k', Value: long }])
    expect(after['f.k']?.isWellFormed()).toBe(true)
    expect(after['f.k']).toContain(digestOf(long))
  })

  test('of 100 changed pairs all are shown, of more the first 100 by key and a digest of the whole', () => {
    const hundred = findChangedPairs('f', [], pairsOf(100, 'v'))
    expect(Object.keys(hundred.after)).toHaveLength(100)
    expect(hundred.before).toEqual({})
    const [before, after] = [pairsOf(10_000, 'old'), pairsOf(10_000, 'new')]
    const shown = findChangedPairs('f', before, after.toReversed())
    const first = pairsOf(10_000)
      .map(({ Key }) => Key)
      .toSorted()
      .slice(0, 100)
    const all = (value: string) => Object.fromEntries(first.map((key) => [`f.${key}`, value]))
    expect(shown).toEqual({
      before: { ...all('old'), 'f (9900 more)': digestOf(JSON.stringify(before)) },
      after: { ...all('new'), 'f (9900 more)': digestOf(JSON.stringify(after.toReversed())) },
    })
  })

  test('pairs that stay do not count, however many they are', () => {
    const kept = pairsOf(9_000, 'v')
    expect(findChangedPairs('f', kept, [...kept, { Key: 'z', Value: '' }])).toEqual({
      before: {},
      after: { 'f.z': '' },
    })
  })

  test('the most that can change stays small', () => {
    const pairs = (letter: string) =>
      Array.from({ length: 3_000 }, (_, i) => ({
        Key: `${i}`.padEnd(500, 'k'),
        Value: letter.repeat(190 + i),
      }))
    const shown = findChangedPairs('f', pairs('a'), pairs('b'))
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(150_000)
  })
})

test('a list is shown whole while it is short, then by its length and digest', () => {
  expect(abbreviateList([])).toEqual([])
  const short = ['a'.repeat(990), 'b'.repeat(3)]
  expect(JSON.stringify(short)).toHaveLength(1_000)
  expect(abbreviateList(short)).toEqual(short)
  const long = ['a'.repeat(990), 'b'.repeat(4)]
  expect(abbreviateList(long)).toBe(`2 entries (${digestOf(JSON.stringify(long))})`)
  expect(abbreviateList(long.toReversed())).not.toBe(abbreviateList(long))
})
