import { describe, expect, test } from 'vitest'
import { createFormToken, isFormToken } from '../../platform/secrets/form-token.ts'
import { parsePublicKey } from './public-key.pure.ts'
import { createUserCode, parseUserCode } from './user-code.pure.ts'
import { createSecretKey } from 'node:crypto'

describe('a user code', () => {
  test('[cli-login.user-code] draws each letter from all twenty', () => {
    expect(createUserCode(() => 0)).toBe('BBBB-BBBB')
    expect(createUserCode((below) => below - 1)).toBe('ZZZZ-ZZZZ')
    const drawn: number[] = []
    createUserCode((below) => (drawn.push(below), 3))
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
    expect(parseUserCode(typed)).toBe(expected)
  })
})

test('[cli-login.public-key] 32 bytes in base64 or base64url, with or without padding, are a key', () => {
  // The base64 form contains both characters in which the alphabets differ.
  const key = Buffer.from('fb'.repeat(16) + 'ff'.repeat(16), 'hex')
  const [base64, base64url] = [key.toString('base64'), key.toString('base64url')]
  expect(base64).toMatch(/^(?=.*\+)(?=.*\/).{43}=$/)
  for (const text of [base64, base64.slice(0, -1), base64url, `${base64url}=`])
    expect([text, parsePublicKey(text)]).toEqual([text, key])
  const mixed = base64.replace('+', '-')
  for (const other of [
    mixed,
    key.toString('hex'),
    `${base64}=`,
    `${base64}\n`,
    ` ${base64}`,
    `=${base64url}`,
    `${'A'.repeat(42)}B=`,
    `${'A'.repeat(42)}B`,
    base64.slice(0, 42),
    '',
  ])
    expect([other, parsePublicKey(other)]).toEqual([other, null])
})

test('[cli-login.csrf] a proof is of one key, person and login', () => {
  const [key, other] = [createSecretKey(Buffer.alloc(32, 1)), createSecretKey(Buffer.alloc(32, 2))]
  const shown = { userId: 'anna', objectId: '1' }
  const token = createFormToken(key, shown)
  expect(isFormToken(key, shown, token)).toBe(true)
  expect(isFormToken(other, shown, token)).toBe(false)
  expect(isFormToken(key, { ...shown, userId: 'ben' }, token)).toBe(false)
  expect(isFormToken(key, { ...shown, objectId: '2' }, token)).toBe(false)
  for (const given of ['', token.slice(1), `${token} `, 'é'.repeat(43)])
    expect(isFormToken(key, shown, given)).toBe(false)
})
