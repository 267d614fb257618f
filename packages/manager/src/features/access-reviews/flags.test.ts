import { describe, expect, test } from 'vitest'
import { prefersHtml } from '../../platform/http/accept.ts'
import { type Flag, countEntriesByValue, flags, computeRank, recommend } from './flags.pure.ts'

describe('recommendations', () => {
  test('follow from the flags alone', () => {
    const cases: [Flag[], string][] = [
      [[], 'keep'],
      [['never_active'], 'keep'],
      [['expires_soon'], 'keep'],
      [['expires_soon', 'never_active'], 'keep'],
      [['privileged'], 'review'],
      [['disabled'], 'review'],
      [['no_expiry'], 'review'],
      [['credential_not_rotated'], 'review'],
      [['dormant'], 'review'],
      [['self_granted'], 'review'],
      [['unrecorded_grant'], 'review'],
      [['expired'], 'revoke'],
      [['privileged', 'dormant'], 'revoke'],
      [['never_active', 'dormant'], 'revoke'],
      [['disabled', 'dormant'], 'review'],
    ]
    expect(cases.map(([given]) => recommend(given))).toEqual(cases.map(([, expected]) => expected))
  })

  test('a further flag never makes a recommendation milder', () => {
    const severity = { keep: 0, review: 1, revoke: 2 }
    for (let bits = 0; bits < 2 ** flags.length; bits++) {
      const given = flags.filter((_, index) => (bits & (1 << index)) !== 0)
      for (const more of flags)
        expect(severity[recommend([...given, more])]).toBeGreaterThanOrEqual(severity[recommend(given)])
    }
  })

  test('what should be revoked ranks first, then what has more flags', () => {
    const given: Flag[][] = [
      [],
      ['privileged'],
      ['expired'],
      ['privileged', 'disabled'],
      ['expired', 'never_active'],
    ]
    expect(given.toSorted((a, b) => computeRank(a) - computeRank(b))).toEqual([
      ['expired', 'never_active'],
      ['expired'],
      ['privileged', 'disabled'],
      ['privileged'],
      [],
    ])
  })

  test('counts name every kind, also those of which there is none', () => {
    const counts = countEntriesByValue([
      {
        principal_type: 'user',
        scope_type: 'tenant',
        activity: 'older',
        flags: ['dormant', 'privileged'],
        entries: 3,
      },
      { principal_type: 'user', scope_type: 'tenant', activity: 'never', flags: [], entries: 4 },
    ])
    expect(counts.by_principal_type).toEqual({
      user: 7,
      machine_user: 0,
      personal_access_token: 0,
      scim_token: 0,
    })
    expect(counts.by_recommendation).toEqual({ revoke: 3, review: 0, keep: 4 })
    expect(counts.by_flag).toMatchObject({ dormant: 3, privileged: 3, expired: 0 })
    expect(counts.by_last_activity).toEqual({
      under_30_days: 0,
      under_90_days: 0,
      under_1_year: 0,
      older: 3,
      never: 4,
    })
  })
})

describe('the Accept header', () => {
  test('asks for HTML when it prefers that to JSON', () => {
    const cases: [string | undefined, boolean][] = [
      [undefined, false],
      ['', false],
      ['*/*', false],
      ['text/html', true],
      ['TEXT/HTML', true],
      ['text/html;level=1', true],
      ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
      ['application/json, text/html', false],
      ['application/json;q=0.4, text/html;q=0.5', true],
      ['application/json;q=0.5, text/html;q=0.4', false],
      ['text/*, application/json;q=0.9', true],
      ['text/*;q=0.2, application/json', false],
      ['text/html;q=0, */*', false],
      ['text/html;q=abc', false],
      ['text/htmlx', false],
      ['text/html; q=0.3 , */*;q=0.2', true],
      [`text/html, ${'a/b,'.repeat(1_000)}`, false],
    ]
    expect(cases.map(([given]) => prefersHtml(given))).toEqual(cases.map(([, expected]) => expected))
  })
})
