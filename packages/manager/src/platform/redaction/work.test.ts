// No text, however it is made, takes more work than its length allows; what is not judged is not shown. Pure.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { symbols } from '../../../test/kit/symbols.ts'
import { redactBody, redactHeaders, redactUrl } from './redact.ts'
import { createWork, notJudged, type Work } from './work.ts'

const most = 65_536
// An order of magnitude above what 64 KiB take.
const maxMs = 50
const rounds = 5

const filled = (unit: string, length = most): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
const about = (body: Buffer, contentType: string | null, isCut = false) => ({
  totalBytes: body.length + Number(isCut),
  contentType,
  contentEncoding: null,
})

/** The processor time of this thread, which a busy machine does not stretch by its waiting. */
function cpuMs(run: () => void): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Runs within the work for so many characters, and in a time that is short at least once. */
function expectBounded(characters: number, run: (work: Work) => void): void {
  let best = Infinity
  for (let round = 0; round < rounds && best > maxMs; round++) {
    const work = createWork(characters)
    best = Math.min(
      best,
      cpuMs(() => run(work)),
    )
    // What runs out is noticed when it is paid for, which is a pass over the text later at most.
    expect(work.spent).toBeLessThan(work.limit * 1.3)
  }
  expect(best).toBeLessThanOrEqual(maxMs)
}

const expectBodyBounded = (text: string, contentType: string | null, isCut = false): void => {
  const body = Buffer.from(text).subarray(0, most)
  expectBounded(body.length, (work) => redactBody(body, about(body, contentType, isCut), work))
}

const parts = 'multipart/form-data; boundary='
const hostile: Record<string, [string, string?]> = {
  'instructions in lists': [filled('[<?=')],
  'a tag of blanks': [`<a${' '.repeat(most - 10)}<pin`],
  'a tag of blanks and slashes': [`<a${' / '.repeat(most / 3 - 4)}<pin`],
  'marks to sort': [`{"pin${'\u0300'.repeat(16_000)}${'\u0316'.repeat(16_000)}":1}`],
  'letters that become eighteen': [`{"pin${'\ufdfa'.repeat(21_000)}":1}`],
  'a name of many parts': [`xpinx${filled('.a', most - 10)}=`],
  'a key of many parts': [`{"xpinx${filled('.a', most - 20)}":1}`],
  'parts in parts': [Array.from({ length: 4_500 }, (_, i) => `--${i}\ncontent-\n\n`).join('')],
  'many parts': [filled('--x\n\na\n'), `${parts}x`],
  'a boundary that is everywhere': [filled('-'), `${parts}"${'-'.repeat(200)}"`],
  'many pairs': [filled('a=&'), 'application/x-www-form-urlencoded'],
  'many secrets': [filled('pin:b\n')],
  'many credentials': [filled('basic a ')],
  'many tags': [`&pin\n${filled('<a>')}`],
  'many attributes': [`<pin ${filled('a=b ')}`],
  'many beginnings of JSON': [`&pin\n${filled('{"')}`],
  'escaped backslashes': [`&pin\n${filled('\\\\')}`],
  'escaped escapes': [`pin ${filled('%25')}`],
  references: [`}{"${filled('&lt;')}`],
  'queries in queries': [filled('ﷺpassword=x&%3D{"a=1;&quot;[1,\n%25%26basic a ","/--x')],
}

describe('64 KiB that are made to be slow take no more than their work', () => {
  test.each(Object.entries(hostile))('%s', (_, [text, type = null]) => {
    expectBodyBounded(text, type)
    expectBodyBounded(text, type, true)
  })
})

const types = [null, 'application/x-www-form-urlencoded', `${parts}x`, 'text/plain; charset=utf-16le']
const unit = fc.array(fc.constantFrom(...symbols), { minLength: 1, maxLength: 12 }).map((all) => all.join(''))
const run = fc.tuple(unit, fc.constantFrom(1, 2, 30, 1_000, most))
const texts = fc
  .array(run, { minLength: 1, maxLength: 4 })
  .map((all) => all.map(([text, times]) => text.repeat(Math.min(times, most))).reduceRight(joined, ''))
/** The last ones stay as they are when the first one is cut. */
function joined(rest: string, text: string): string {
  return text.slice(0, Math.max(1, most - rest.length)) + rest
}

test('no text that is made of the symbols of all grammars takes more', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(texts, fc.constantFrom(...types), fc.boolean(), (text, type, isCut) => {
      const body = Buffer.from(text, type?.includes('utf-16') === true ? 'utf16le' : 'utf8').subarray(0, most)
      expectBounded(body.length, (work) => redactBody(body, about(body, type, isCut), work))
    }),
    { numRuns: 150 },
  )
})

test('nor does any query or header', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 400 }), (text, count) => {
      const short = text.slice(0, 16_000)
      expectBounded(short.length, (work) => redactUrl(`https://h/?${short}`, work))
      const raw = Array.from({ length: count }, (_, i) => short.slice((i * short.length) / count)).flatMap(
        (value) => [value.slice(0, 20), value.slice(0, short.length / count)],
      )
      expectBounded(raw.join('').length, (work) => redactHeaders(raw, work))
    }),
    { numRuns: 100 },
  )
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
