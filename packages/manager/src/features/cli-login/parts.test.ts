import { describe, expect, test } from 'vitest'
import { formToken, isFormToken } from './form-token.pure.ts'
import { parsePublicKey } from './public-key.pure.ts'
import { newUserCode, readUserCode } from './user-code.pure.ts'
import { createSecretKey } from 'node:crypto'

describe('a user code', () => {
  test('[cli-login.user-code] draws each letter from all twenty', () => {
    expect(newUserCode(() => 0)).toBe('BBBB-BBBB')
    expect(newUserCode((below) => below - 1)).toBe('ZZZZ-ZZZZ')
    const drawn: number[] = []
    newUserCode((below) => (drawn.push(below), 3))
    expect(drawn).toEqual(Array.from({ length: 8 }, () => 20))
  })

  test.each([
    ['BCDF-GHJK', 'BCDF-GHJK'],
    ['bcdfghjk', 'BCDF-GHJK'],
    [' b c d f - g h j k ', 'BCDF-GHJK'],
    ['ACDF-GHJK', null],
    ['BCDF-GHJ', null],
    ['BCDF-GHJKL', null],
    ['', null],
    ['BCDFGHJK'.padEnd(1_000, ' '), null],
    ['ſCDF-GHJK', null],
  ])('typed as %j is %j', (typed, expected) => {
    expect(readUserCode(typed)).toBe(expected)
  })
})

test('[cli-login.public-key] one spelling of 32 bytes is a key', () => {
  const key = Buffer.alloc(32, 0xab)
  expect(parsePublicKey(key.toString('base64'))).toEqual(key)
  for (const other of [key.toString('base64url'), key.toString('hex'), `${key.toString('base64')}\n`, ''])
    expect(parsePublicKey(other)).toBeNull()
})

test('[cli-login.csrf] a proof is of one key, person and login', () => {
  const [key, other] = [createSecretKey(Buffer.alloc(32, 1)), createSecretKey(Buffer.alloc(32, 2))]
  const shown = { userId: 'anna', loginId: '1' }
  const token = formToken(key, shown)
  expect(isFormToken(key, shown, token)).toBe(true)
  expect(isFormToken(other, shown, token)).toBe(false)
  expect(isFormToken(key, { ...shown, userId: 'ben' }, token)).toBe(false)
  expect(isFormToken(key, { ...shown, loginId: '2' }, token)).toBe(false)
  for (const given of ['', token.slice(1), `${token} `, 'é'.repeat(43)])
    expect(isFormToken(key, shown, given)).toBe(false)
})
