// These tests cover the expansion of keys with dots to nested objects, for any names and large language
// packs.
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { longTexts, deepKeys, largePack, shapes } from '../../../test/kit/messages.ts'
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import { expandMessages, findKeyProblem, isLocale, listLookupLocales } from './messages.pure.ts'

const pair = (Key: string, Value = `text of ${Key}`): KeyValuePair => ({ Key, Value })

/**
 * The entries of an object as sorted pairs, so that special names such as `__proto__` are compared like other
 * names.
 */
type Entries = string | [string, Entries][]

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
const entriesOf = (value: unknown): Entries =>
  typeof value === 'string'
    ? value
    : Reflect.ownKeys(value as object)
        .map((name): [string, Entries] => [String(name), entriesOf(Reflect.get(value as object, name))])
        .toSorted(byName)

/** Implements the rule independently: groups keys by their first part, then each group by the next part. */
function reference(pairs: readonly { parts: readonly string[]; value: string }[]): Entries {
  const groups = Map.groupBy(pairs, ({ parts }) => parts[0] as string)
  return [...groups]
    .map(([first, group]): [string, Entries] => {
      const own = group.filter(({ parts }) => parts.length === 1).map(({ value }) => value)
      const longer = group.filter(({ parts }) => parts.length > 1)
      if (longer.length === 0) return [first, own[0] as string]
      const inner = reference(longer.map(({ parts, value }) => ({ parts: parts.slice(1), value })))
      const text: [string, Entries][] = own.map((value) => ['', value])
      return [first, [...text, ...(inner as [string, Entries][])].toSorted(byName)]
    })
    .toSorted(byName)
}
const referenceOf = (content: readonly KeyValuePair[]): Entries =>
  reference(content.map(({ Key, Value }) => ({ parts: Key.split('.'), value: Value })))

const prototypes = [Object, Array, String, Function].map(({ prototype }) => prototype as object)
const namesOf = (): string[] =>
  prototypes.flatMap((prototype) => Reflect.ownKeys(prototype).map((name) => String(name)))
const namesAtFirst = namesOf()
const plainAtFirst = Object.getPrototypeOf({}) as object

/** Checks that the expansion added nothing to a prototype. */
function expectNothingPolluted(): void {
  expect(namesOf()).toEqual(namesAtFirst)
  expect(Object.getPrototypeOf({})).toBe(plainAtFirst)
  expect(Object.getPrototypeOf(plainAtFirst)).toBeNull()
  expect(Object.keys({ a: 1 })).toEqual(['a'])
  // eslint-disable-next-line guard-for-in -- the check is about inherited names
  for (const name in {}) expect(name).toBe('nothing is inherited')
}
afterEach(expectNothingPolluted)

const magic = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'toJSON']
const parts = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'c',
    ...magic,
    '__defineGetter__',
    'length',
    '0',
    '1',
    '10',
    '-1',
    '1e3',
    '4294967295',
  ),
  fc.constantFrom('ä', 'a\u0308', '日本語', '🙂', '\u200d', ' ', 'ſ', '\ufeff'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
)
const keys = fc
  .array(parts, { minLength: 1, maxLength: 6 })
  .map((all) => all.join('.'))
  .filter((key) => !key.split('.').includes(''))
const contents = fc
  .uniqueArray(keys, { maxLength: 40 })
  .chain((names) => fc.tuple(...names.map((Key) => fc.record({ Key: fc.constant(Key), Value: fc.string() }))))

describe('expanding keys', () => {
  test('[language-packs.leaf-and-branch] any content gives what the rule says, in any order, as objects and as JSON', () => {
    fc.assert(
      fc.property(contents, fc.func(fc.integer()), (content, rank) => {
        const wanted = referenceOf(content)
        const shuffled = content.toSorted((a, b) => rank(a.Key) - rank(b.Key))
        for (const given of [content, content.toReversed(), shuffled]) {
          const expanded = expandMessages(given)
          expect(entriesOf(expanded)).toEqual(wanted)
          expect(entriesOf(JSON.parse(JSON.stringify(expanded)))).toEqual(wanted)
        }
        expectNothingPolluted()
      }),
      { numRuns: 400 },
    )
  })

  test('[language-packs.leaf-and-branch] a beside a.b, in both orders and at every depth, puts the text under the empty name', () => {
    expect(expandMessages([pair('a', 'text'), pair('a.b', 'inner')])).toEqual({
      a: { '': 'text', b: 'inner' },
    })
    expect(expandMessages([pair('a.b', 'inner'), pair('a', 'text')])).toEqual({
      a: { '': 'text', b: 'inner' },
    })
    for (let depth = 0; depth <= 12; depth++) {
      const above = Array.from({ length: depth }, (_, index) => `p${index}.`).join('')
      const content = [
        pair(`${above}a`, 'text'),
        pair(`${above}a.b`, 'inner'),
        pair(`${above}a.c.d`, 'deeper'),
      ]
      let wanted: object = { a: { '': 'text', b: 'inner', c: { d: 'deeper' } } }
      for (let level = depth - 1; level >= 0; level--) wanted = { [`p${level}`]: wanted }
      const [x, y, z] = content as [KeyValuePair, KeyValuePair, KeyValuePair]
      for (const order of [
        [x, y, z],
        [x, z, y],
        [y, x, z],
        [y, z, x],
        [z, x, y],
        [z, y, x],
      ])
        expect(expandMessages(order)).toEqual(wanted)
    }
  })

  test('[language-packs.leaf-and-branch] a text at every step of one path stays beside what is below it', () => {
    const content = Array.from({ length: 20 }, (_, index) =>
      pair(Array.from({ length: index + 1 }, () => 'x').join('.'), String(index)),
    )
    for (const given of [content, content.toReversed()]) {
      let branch: unknown = expandMessages(given)
      for (let index = 0; index < 19; index++) {
        branch = (branch as { x: unknown }).x
        expect((branch as Record<string, unknown>)['']).toBe(String(index))
      }
      expect((branch as { x: unknown }).x).toBe('19')
    }
  })

  test('an empty text is a text: it is kept beside a branch, and alone', () => {
    expect(expandMessages([])).toEqual({})
    expect(expandMessages([pair('a', '')])).toEqual({ a: '' })
    for (const content of [
      [pair('a', ''), pair('a.b', '')],
      [pair('a.b', ''), pair('a', '')],
    ])
      expect(expandMessages(content)).toEqual({ a: { '': '', b: '' } })
  })

  test('names that mean something to JavaScript are names like any other, wherever they stand', () => {
    for (const name of magic)
      for (const key of [name, `${name}.x`, `x.${name}`, `${name}.${name}.${name}`, `x.${name}.y`]) {
        const content = [pair(key, 'text'), pair(`${key}.below`, 'inner')]
        for (const given of [content, content.toReversed(), [pair(key, 'text')]]) {
          const expanded = expandMessages(given)
          expect(entriesOf(expanded)).toEqual(referenceOf(given))
          expect(Object.keys(expanded)).toEqual([key.split('.')[0]])
          expect(entriesOf(JSON.parse(JSON.stringify(expanded)))).toEqual(referenceOf(given))
        }
        expectNothingPolluted()
      }
    expandMessages([
      pair('__proto__.polluted', 'yes'),
      pair('constructor.prototype.polluted', 'yes'),
      pair('a.__proto__.__proto__.polluted', 'yes'),
    ])
    for (const victim of [{}, [], '', () => 0]) expect('polluted' in Object(victim)).toBe(false)
  })

  test('numbers as parts name entries of objects, never places in a list', () => {
    const expanded = expandMessages([
      pair('list.1', 'b'),
      pair('list.0', 'a'),
      pair('0', 'zero'),
      pair('01', 'x'),
    ])
    expect(JSON.parse(JSON.stringify(expanded))).toEqual({ list: { 0: 'a', 1: 'b' }, 0: 'zero', '01': 'x' })
    expect(Array.isArray(expanded['list'])).toBe(false)
  })

  test('texts of any script are taken as they are: what only looks alike stays apart', () => {
    const names = ['é', 'e\u0301', 'ß', 'ẞ', 'ſ', 's', '\u200b', 'Ａ', 'A', '🙂', 'a b', '․', '。']
    const content = names.flatMap((name) => [pair(name), pair(`in.${name}`)])
    const expanded = expandMessages(content)
    expect(Object.keys(expanded)).toHaveLength(names.length + 1)
    for (const name of names) {
      expect(expanded[name]).toBe(`text of ${name}`)
      expect((expanded['in'] as Record<string, string>)[name]).toBe(`text of in.${name}`)
    }
  })

  test('250 parts make 250 levels, as an object and as JSON', () => {
    const key = Array.from({ length: 250 }, (_, index) => (index % 2 === 0 ? 'a' : '__proto__')).join('.')
    const expanded = expandMessages([pair(key, 'bottom'), pair(`${key}.b`, 'below')])
    expect(entriesOf(expanded)).toEqual(referenceOf([pair(key, 'bottom'), pair(`${key}.b`, 'below')]))
    const text = JSON.stringify(expandMessages([pair(key, 'bottom')]))
    expect(text.split('{')).toHaveLength(251)
    expect(text.endsWith(`"bottom"${'}'.repeat(250)}`)).toBe(true)
  })

  test('what it was given is left as it was', () => {
    const content = [pair('a', '1'), pair('a.b', '2'), pair('__proto__.c', '3')].map((one) =>
      Object.freeze(one),
    )
    expandMessages(Object.freeze(content))
    expect(content).toEqual([pair('a', '1'), pair('a.b', '2'), pair('__proto__.c', '3')])
  })
})

describe('large contents', () => {
  test.each(Object.entries(shapes))('1,000 keys, %s, are expanded by the rule', (_shape, keyAt) => {
    const content = Array.from({ length: 1_000 }, (_, index) => pair(keyAt(index), 'v'))
    expect(entriesOf(expandMessages(content))).toEqual(referenceOf(content))
  })

  test('and so are 10,000 keys with a megabyte of texts, and 5,000 of 20 parts each, none of them shared', () => {
    for (const content of [largePack(), deepKeys()]) {
      expect(findKeyProblem(content)).toBeNull()
      expect(entriesOf(expandMessages(content))).toEqual(referenceOf(content))
    }
  })
})

describe('the words of a language pack', () => {
  test('a locale is a language and further parts, joined by hyphens', () => {
    for (const locale of [
      'de',
      'DE',
      'deu',
      'de-AT',
      'zh-Hant-TW',
      'sr-Latn-RS',
      'de-1996',
      'abcdefgh',
      'en-a-b1',
    ])
      expect([locale, isLocale(locale)]).toEqual([locale, true])
    const odd = [
      '',
      'd',
      'abcdefghi',
      '12',
      'd1',
      'de_AT',
      'de-',
      '-de',
      'de--AT',
      'de-abcdefghi',
      'de AT',
      ' de',
      'de ',
    ]
    for (const text of [
      ...odd,
      'de\n',
      'dé',
      'de-ÄT',
      'de.AT',
      '*',
      '../de',
      'de/AT',
      'de\0',
      'ﬀ',
      '__proto__',
    ])
      expect([text, isLocale(text)]).toEqual([text, false])
    const longest = `de${'-abcdefgh'.repeat(3)}-abcde`
    expect([longest.length, isLocale(longest), isLocale(`${longest}f`)]).toEqual([35, true, false])
  })

  test('a locale and its language are all that is looked for', () => {
    expect(listLookupLocales('de')).toEqual(['de'])
    expect(listLookupLocales('de-AT')).toEqual(['de-AT', 'de'])
    expect(listLookupLocales('zh-Hant-TW')).toEqual(['zh-Hant-TW', 'zh'])
    expect(listLookupLocales('DE-at')).toEqual(['DE-at', 'DE'])
  })

  test('long texts of hyphens and letters are no locales', () => {
    expect(longTexts.map(isLocale)).toEqual([false, false, false, false])
  })

  test('a key is made of parts that are not empty', () => {
    for (const key of ['a', 'a.b', 'a.b.c', ' ', 'a. .b', '0', 'ä.日', 'a:b', 'a/b', '․'])
      expect([key, findKeyProblem([pair('good'), pair(key)])]).toEqual([key, null])
    for (const key of ['', '.', '..', 'a.', '.a', 'a..b', 'a.b.', '.a.b', 'a...b', '".'])
      expect(findKeyProblem([pair('good'), pair(key)])).toBe(
        `Key ${JSON.stringify(key)} in content has an empty part; join the parts with single dots`,
      )
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', '.', 'ä', ' '), { maxLength: 8 }), (characters) => {
        const key = characters.join('')
        expect(findKeyProblem([pair(key)]) === null).toBe(!/^$|^\.|\.$|\.\./.test(key))
      }),
    )
    expect(findKeyProblem([])).toBeNull()
  })

  test('a key that names the prototype of objects is refused, and one that only contains its words is not', () => {
    for (const key of [
      '__proto__',
      '__proto__.x',
      'a.__proto__',
      'a.__proto__.b',
      'constructor.prototype',
      'constructor.prototype.x',
      'a.constructor.prototype.x',
      'constructor.constructor.prototype',
    ])
      expect(findKeyProblem([pair('good'), pair(key)])).toBe(
        `Key ${JSON.stringify(key)} in content would change the prototype of objects in frontends that merge translations; rename it`,
      )
    for (const key of [
      'constructor',
      'prototype',
      'prototype.constructor',
      'constructor.x.prototype',
      'car.prototype.name',
      'formula1.constructor',
      '__proto',
      'proto__',
      '__PROTO__',
      'x__proto__',
      'hasOwnProperty',
      'toString',
    ])
      expect([key, findKeyProblem([pair('good'), pair(key)])]).toEqual([key, null])
  })

  test('a key has at most 20 parts, and the keys of a pack have at most 100,000 together', () => {
    const keyOf = (parts: number, first: number) => pair(`k${first}${'.a'.repeat(parts - 1)}`)
    expect(findKeyProblem([keyOf(20, 0)])).toBeNull()
    expect(findKeyProblem([keyOf(2, 0), keyOf(21, 1)])).toBe(
      'every Key of content must have at most 20 parts',
    )
    const full = Array.from({ length: 5_000 }, (_, index) => keyOf(20, index))
    expect(findKeyProblem(full)).toBeNull()
    expect(findKeyProblem([...full, pair('one')])).toBe(
      'the keys of content must have at most 100000 parts in total',
    )
    expect(findKeyProblem([...full.slice(1), keyOf(19, 0), pair('one')])).toBeNull()
  })
})
