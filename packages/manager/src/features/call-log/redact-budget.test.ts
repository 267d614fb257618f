// These tests check that redaction never exceeds its budget, and that text past the budget is not shown.
import { describe, expect, test } from 'vitest'
import {
  bodyInfo,
  expectBodiesBounded,
  expectBodyBounded,
  expectQueriesAndHeadersBounded,
  repeatToLength,
  hostile,
  parts,
} from '../../../test/kit/slow-texts.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'
import { type Budget, createBudget } from './redact-budget.pure.ts'

/** Checks that the run stays within its budget. */
function expectBounded(run: (budget: Budget) => void): void {
  const budget = createBudget()
  run(budget)
  expect(budget.spent).toBeLessThanOrEqual(budget.limit)
}

describe('64 KiB that are made to be slow take no more than their work', () => {
  test.each(Object.entries(hostile))('%s', (_, [text, type = null]) => {
    expectBodyBounded(expectBounded, text, type)
    expectBodyBounded(expectBounded, text, type, true)
  })
})

test('no text that is made of the symbols of all grammars takes more', () => {
  expectBodiesBounded(expectBounded)
})

test('nor does any query or header', () => {
  expectQueriesAndHeadersBounded(expectBounded)
})

describe('what is not judged', () => {
  const none = (): Budget => ({ limit: 0, spent: 0 })
  const body = Buffer.from('{"a":"kept","password":"s3cr3t"}')

  test('is neither shown nor taken for judged: a body, a query, the values of headers', () => {
    expect(redactBody(body, bodyInfo(body, null), none())).toBe('[text, 32 bytes]')
    expect(redactBody(body, bodyInfo(body, 'application/json', true), none())).toBe(
      '[application/json, 33 bytes]',
    )
    expect(redactUrl('https://u:s3cr3t@h/p?a=b&pin=s3cr3t', none())).toBe('https://[REDACTED]@h/p?[REDACTED]')
    expect(redactHeaders(['a', 'b', 'c', '{"d":"pin"}', 'pin', 's3cr3t'], none())).toEqual([
      { name: 'a', value: 'b' },
      { name: 'c', value: '[REDACTED]' },
      { name: 'pin', value: '[REDACTED]' },
    ])
  })

  test('is a form of parts as a whole, when all its parts together are too much', () => {
    const part = (name: string, value: string): string =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const form = Buffer.from(
      part('a', 'kept') + repeatToLength(part('b', '{"pin":[1,1,1,1,1,1,1,1]}'), 60_000),
    )
    const type = `${parts}x`
    expect(redactBody(form, bodyInfo(form, type), { limit: 1_000, spent: 0 })).toBe(
      `[multipart/form-data, ${form.length} bytes]`,
    )
    expect(redactBody(form, bodyInfo(form, type))).toContain(part('a', 'kept'))
  })

  test('is a text with all texts inside of it, when they are too much', () => {
    const nested = Buffer.from(JSON.stringify({ a: 'kept', pin: `[${repeatToLength('1,', 30_000)}1]` }))
    expect(redactBody(nested, bodyInfo(nested, null))).toBe('{"a":"kept","pin":"[REDACTED]"}')
    const beside = Buffer.from(JSON.stringify({ a: 'kept', b: `[${repeatToLength('1,', 30_000)}"pin"]` }))
    expect(redactBody(beside, bodyInfo(beside, null))).toBe(`[text, ${beside.length} bytes]`)
  })

  test('a name of more than a thousand characters is taken for one of a secret', () => {
    const long = Buffer.from(`{"${'a.'.repeat(600)}":"s3cr3t pin","b":"kept"}`)
    expect(redactBody(long, bodyInfo(long, null))).toMatch(/"\[REDACTED\]","b":"kept"\}$/)
  })
})

describe('what honest senders send', () => {
  const order =
    '{"id":"o-4711","name":"Ada Lovelace","city":"Zürich","total":12.50,"lines":[{"sku":"a","qty":1}]},'
  const item = '<item id="1"><name>Ada</name><city>Z</city><price cur="CHF">12.5</price></item>'
  const field = 'items[0][sku]=abc&items[0][qty]=1&note=hello+world%21&'
  const inner = JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id, city: 'Bern', note: 'x: y' })))
  const end = 'kept-at-the-end'

  test.each([
    ['JSON', 60_000, `{"pin":1,"orders":[${order.repeat(620)}{}],"end":"${end}"}`],
    ['XML', 58_000, `<r><pin>1</pin>${item.repeat(750)}<e>${end}</e></r>`],
    ['JSON in JSON', 14_000, JSON.stringify({ pin: 1, inner, end })],
    ['a form', 15_000, `pin=1&${field.repeat(300)}e=${end}`],
    ['lines of JSON', 60_000, `{"pin":1}\n${`${order.slice(0, -1)}\n`.repeat(620)}{"end":"${end}"}`],
    ['numbers', 60_000, `{"pin":1,"list":[${'0.12345,'.repeat(7_800)}0],"end":"${end}"}`],
  ])('is shown to its end: %s of %i bytes', (_, bytes, text) => {
    const body = Buffer.from(text)
    expect(body.length).toBeGreaterThan(bytes)
    const shown = redactBody(body, bodyInfo(body, null))
    expect(shown).toContain(end)
    expect(shown.length).toBeGreaterThan(text.length - 200)
  })

  test('is a type and a length when it is large and of tiny pieces', () => {
    for (const text of [
      `pin=s3cr3t&${repeatToLength('a=1&')}`,
      `["pin","s3cr3t",${repeatToLength('1,', 30_000)}1]`,
    ]) {
      const body = Buffer.from(text)
      expect(redactBody(body, bodyInfo(body, null))).toBe(`[text, ${body.length} bytes]`)
    }
  })
})
