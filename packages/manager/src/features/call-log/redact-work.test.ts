// No text, however it is made, takes more work than its length allows; what is not judged is not shown. Pure.
import { describe, expect, test } from 'vitest'
import {
  about,
  expectBodiesBounded,
  expectBodyBounded,
  expectQueriesAndHeadersBounded,
  filled,
  hostile,
  most,
  parts,
} from '../../../test/kit/slow-texts.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.pure.ts'
import { createWork, notJudged, type Work } from './redact-work.pure.ts'

/** Runs within the work for so many characters. */
function expectBounded(characters: number, run: (work: Work) => void): void {
  const work = createWork(characters)
  run(work)
  // What runs out is noticed when it is paid for, which is a pass over the text later at most.
  expect(work.spent).toBeLessThan(work.limit * 1.3)
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
  const none = (): Work => ({ limit: 0, spent: 0 })
  const body = Buffer.from('{"a":"kept","password":"s3cr3t"}')

  test('is neither shown nor taken for judged: a body, a query, the values of headers', () => {
    expect(redactBody(body, about(body, null), none())).toBe(notJudged)
    expect(redactBody(body, about(body, null, true), none())).toBe(`${notJudged} [cut: 32 of 33 bytes]`)
    expect(redactUrl('https://h/p?a=b&pin=s3cr3t', none())).toBe(`https://h/p?${notJudged}`)
    expect(redactHeaders(['a', 'b', 'pin', 's3cr3t'], none())).toEqual([
      { name: 'a', value: notJudged },
      { name: 'pin', value: notJudged },
    ])
  })

  test('is the rest of a form of parts, from the first one that is too much', () => {
    const part = (name: string, value: string): string =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const form = Buffer.from(part('a', 'kept') + filled(part('b', '[<?=pin'), 60_000))
    const shown = redactBody(form, about(form, `${parts}x`), { limit: 300_000, spent: 0 })
    expect(shown.startsWith(part('a', 'kept'))).toBe(true)
    expect(shown.endsWith(notJudged)).toBe(true)
  })

  test('is a text inside of a text, before the text itself', () => {
    const nested = JSON.stringify({ a: 'kept', b: `pin ${filled('[<?=', 20_000)}`, pin: 's3cr3t', c: 'kept' })
    const bytes = Buffer.from(nested)
    expect(redactBody(bytes, about(bytes, null))).toMatch(
      /^\{"a":"kept","b":".{0,30}\[REDACTED\]","pin":"\[REDACTED\]","c":"kept"\}$/,
    )
  })

  test('a name of more than a thousand characters is taken for one of a secret', () => {
    const long = Buffer.from(`{"${'a.'.repeat(600)}":"s3cr3t pin","b":"kept"}`)
    expect(redactBody(long, about(long, null))).toMatch(/"\[REDACTED\]","b":"kept"\}$/)
  })
})

describe('what honest senders send', () => {
  const order =
    '{"id":"o-4711","name":"Ada Lovelace","city":"Zürich","total":12.50,"lines":[{"sku":"a","qty":1}]},'
  const item = '<item id="1"><name>Ada</name><city>Z</city><price cur="CHF">12.5</price></item>'
  const field = 'items[0][sku]=abc&items[0][qty]=1&note=hello+world%21&'
  const line = '2026-01-01T10:00:00Z INFO request: GET /p?a=b&c=d status=200 time=5ms\n'
  const prose = 'Die Straße führt über die Brücke: schön, nicht wahr?\n'
  const inner = JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id, city: 'Bern', note: 'x: y' })))
  const end = 'kept at the end'

  test.each([
    ['JSON', 60_000, `{"pin":1,"orders":[${order.repeat(620)}{}],"end":"${end}"}`],
    ['XML', 58_000, `<r><pin>1</pin>${item.repeat(750)}<e>${end}</e></r>`],
    ['JSON in JSON', 14_000, JSON.stringify({ pin: 1, inner, end })],
    ['a form', 15_000, `pin=1&${field.repeat(300)}e=${end}`],
    ['a log', 20_000, `pin: 1\n${line.repeat(290)}${end}`],
    ['prose', 30_000, `pin: 1\n${prose.repeat(560)}${end}`],
  ])('is shown to its end: %s of %i bytes', (_, bytes, text) => {
    const body = Buffer.from(text)
    expect(body.length).toBeGreaterThan(bytes)
    const shown = redactBody(body, about(body, null))
    expect(shown).toContain(end)
    expect(shown.length).toBeGreaterThan(text.length - 200)
  })

  test('is shown by its beginning when it is large and of tiny pieces', () => {
    for (const text of [`pin=s3cr3t&${filled('a=1&')}`, `pin: s3cr3t\n${filled('a:1\n')}`]) {
      const body = Buffer.from(text.slice(0, most))
      const shown = redactBody(body, about(body, null))
      expect(shown).not.toContain('s3cr3t')
      expect(shown.startsWith(text.slice(0, 4))).toBe(true)
      expect(shown.length).toBeGreaterThan(2_000)
      expect(shown.endsWith(` ${notJudged}`)).toBe(true)
    }
  })
})
