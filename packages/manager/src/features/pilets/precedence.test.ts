// These tests check that precedence keys sort as SemVer requires. The `semver` package is the reference.
import * as fc from 'fast-check'
import { compare } from 'semver'
import { expect, test } from 'vitest'
import { computePrecedence } from './precedence.pure.ts'

const number = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 2 ** 40 })).map(String)
const word = fc
  .string({ unit: fc.constantFrom('0', '1', '9', 'A', 'Z', 'a', 'z', '-'), minLength: 1, maxLength: 5 })
  .filter((text) => !/^\d+$/.test(text))
const identifiers = (one: fc.Arbitrary<string>) =>
  fc.array(one, { minLength: 1, maxLength: 4 }).map((list) => list.join('.'))
const version = fc
  .record({
    core: fc.tuple(number, number, number).map((numbers) => numbers.join('.')),
    prerelease: fc.option(identifiers(fc.oneof(number, word))),
    build: fc.option(identifiers(word), { freq: 5 }),
  })
  .map(
    ({ core, prerelease, build }) =>
      core + (prerelease === null ? '' : `-${prerelease}`) + (build === null ? '' : `+${build}`),
  )

/** Compares byte by byte, like the database. */
const byBytes = (a: string, b: string): number =>
  Math.sign(
    Buffer.compare(
      Buffer.from(computePrecedence(a).precedence),
      Buffer.from(computePrecedence(b).precedence),
    ),
  )

test('any two versions compare as semver compares them', () => {
  fc.assert(
    fc.property(version, version, (a, b) => {
      expect([a, b, byBytes(a, b)]).toEqual([a, b, compare(a, b)])
    }),
    { numRuns: 3_000 },
  )
})

test('versions that differ in one place compare as semver compares them', () => {
  const close = fc.tuple(
    fc.constantFrom('1.2.3', '1.2.3-', '1.10.0-'),
    identifiers(fc.oneof(number, word)),
    identifiers(fc.oneof(number, word)),
  )
  fc.assert(
    fc.property(close, ([core, first, second]) => {
      const [a, b] = core.endsWith('-') ? [core + first, core + second] : [core, `${core}-${second}`]
      expect([a, b, byBytes(a, b)]).toEqual([a, b, compare(a, b)])
    }),
    { numRuns: 3_000 },
  )
})

test('the example of SemVer is in its order, and numbers beyond those of JavaScript are too', () => {
  const ordered = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0-rc.99999999999999999999',
    '1.0.0-rc.100000000000000000000',
    '1.0.0',
    '1.0.1-0',
    '1.0.1',
    '1.2.0',
    '1.10.0',
    '2.0.0-a',
  ]
  expect(ordered.toReversed().toSorted(byBytes)).toEqual(ordered)
})

test('build metadata does not count, so such versions keep the order they are in', () => {
  const builds = ['1.0.0+b', '1.0.0+a', '1.0.0', '1.0.0+c']
  expect(builds.toSorted(byBytes)).toEqual(builds)
  expect(new Set(builds.map((one) => computePrecedence(one).precedence)).size).toBe(1)
})

test('what has a prerelease is not stable, whatever its build metadata looks like', () => {
  expect(
    ['1.0.0', '1.0.0+a-b', '1.0.0-a', '1.0.0-a+b', '0.0.0'].map((one) => computePrecedence(one).isStable),
  ).toEqual([true, true, false, false, true])
})
