import { type KeyObject, createSecretKey } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildToken,
  hasValidChecksum,
  randomLength,
  createRandomText,
  parseTokenPrefix,
} from './token.pure.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('')
const textOf = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...base62), minLength: length, maxLength: length })
const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => createSecretKey(bytes))
const anyParts = fc.record({
  prefix: textOf(randomLength.prefix),
  secret: textOf(randomLength.secret),
  key: anyKey,
})
// Most characters are from the token alphabet, because the format check rejects all other characters.
const anyCharacter = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...base62) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
)

/** Returns whether a string is accepted as a token that the service issued. */
const passes = (text: string, key: KeyObject): boolean =>
  parseTokenPrefix(text) !== null && hasValidChecksum(text, [key])

describe('the form of a token', () => {
  test('[access-tokens.format] [access-tokens.keyed-check] a token is pat_<8>_<32>, starts with its prefix and ends with the right check', () => {
    fc.assert(
      fc.property(anyParts, ({ prefix, secret, key }) => {
        const token = buildToken(prefix, secret, key)
        expect(token).toMatch(/^pat_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}$/)
        expect(token.slice(0, -6)).toBe(`pat_${prefix}_${secret}`)
        expect(parseTokenPrefix(token)).toBe(prefix)
        expect(hasValidChecksum(token, [key])).toBe(true)
      }),
    )
  })

  test('[access-tokens.keyed-check] a token with one other character fails, wherever it stands', () => {
    fc.assert(
      fc.property(anyParts, anyCharacter, ({ prefix, secret, key }, character) => {
        const token = buildToken(prefix, secret, key)
        const changed = token
          .split('')
          .map((old, at) =>
            old === character ? token : token.slice(0, at) + character + token.slice(at + 1),
          )
        expect(changed.filter((text) => passes(text, key) !== (text === token))).toEqual([])
      }),
    )
  })

  test('[access-tokens.format] only a text of exactly this form has a prefix', () => {
    const token = `pat_${'a'.repeat(8)}_${'b'.repeat(32)}`
    expect(parseTokenPrefix(token)).toBe('aaaaaaaa')
    for (const text of [
      '',
      'pat_',
      token.toUpperCase(),
      token.slice(0, -1),
      `${token}b`,
      `${token}\n`,
      ` ${token}`,
      token.replaceAll('_', '-'),
      token.replace('b', 'é'),
      token.replace('a', '_'),
    ])
      expect([text, parseTokenPrefix(text)]).toEqual([text, null])
  })

  test('[access-tokens.keyed-check] two neighbours that change places fail, and so does a missing or a further character', () => {
    fc.assert(
      fc.property(anyParts, anyCharacter, ({ prefix, secret, key }, character) => {
        const token = buildToken(prefix, secret, key)
        for (let at = 0; at <= token.length; at++) {
          const [before, here, next, after] = [
            token.slice(0, at),
            token.charAt(at),
            token.charAt(at + 1),
            token.slice(at + 2),
          ]
          expect(passes(before + character + token.slice(at), key)).toBe(false)
          if (here === '') continue
          expect(passes(before + next + after, key)).toBe(false)
          expect(passes(before + next + here + after, key)).toBe(here === next || next === '')
        }
      }),
    )
  })

  test('[access-tokens.keyed-check] a token made with another key fails', () => {
    fc.assert(
      fc.property(anyParts, anyKey, ({ prefix, secret, key }, other) => {
        fc.pre(!key.equals(other))
        expect(passes(buildToken(prefix, secret, other), key)).toBe(false)
      }),
    )
  })

  test('the check of tokens that are out there never changes', () => {
    const token = buildToken('aB3dE6gH', 'abcdefghijklmnopqrstuvwxyz', createSecretKey(Buffer.alloc(32, 7)))
    expect(token).toBe('pat_aB3dE6gH_abcdefghijklmnopqrstuvwxyzrs1Or8')
  })

  test('random text takes each of 62 letters and digits, one draw a character', () => {
    const draws: number[] = []
    let next = 0
    const text = createRandomText(62, (below) => {
      draws.push(below)
      return next++
    })
    expect(new Set(text)).toEqual(new Set(base62))
    expect(draws).toEqual(Array.from({ length: 62 }, () => 62))
    expect(createRandomText(0, () => 0)).toBe('')
  })
})
