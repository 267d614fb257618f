// These tests measure the time to redact bodies that are hard to parse.
import { describe, expect, test } from 'vitest'
import { hostile } from '../../../test/kit/slow-texts.ts'
import { redactBody } from './redact.pure.ts'

const show = (body: string | Buffer, contentType: string | null = null, totalBytes?: number): string =>
  redactBody(Buffer.from(body as string), {
    totalBytes: totalBytes ?? Buffer.byteLength(body),
    contentType,
    contentEncoding: null,
  })

describe('64 KiB of what is hard to read', () => {
  const size = 65_536
  const of = (unit: string): string => unit.repeat(size / unit.length)
  const hard = ['[', '{', '"', '<', '&', '=']
  const others = [
    ':',
    '\\',
    '\\"',
    '%',
    '%3D',
    '&lt;',
    ' =',
    '\n',
    '<a>',
    '<a ',
    '<a b="',
    '</a>',
    '<!-- -->',
    '<![CDATA[',
    '["a",',
    '{"a":',
    '{"value":',
    'a=b&',
    'pin=1&',
    '"pin":1,',
    'password:\n',
    'name=',
    'basic ',
    '://',
  ]

  /** Returns the lowest CPU time of several runs, or the first time that is low enough. */
  function leastMs(work: () => void, enoughMs: number): number {
    let least = Infinity
    for (let tries = 0; tries < 6 && least >= enoughMs; tries++) {
      const before = process.threadCpuUsage()
      work()
      const { user, system } = process.threadCpuUsage(before)
      least = Math.min(least, (user + system) / 1_000)
    }
    return least
  }

  test.each([...hard, ...others])('is read within milliseconds: %j, alone and in a string', (unit) => {
    const maxMs = hard.includes(unit) ? 20 : 100
    for (const start of ['', '["', 'x ']) {
      const body = (start + of(unit)).slice(0, size)
      expect(leastMs(() => show(body, null, 100_000), maxMs)).toBeLessThan(maxMs)
    }
  })

  test.each(Object.entries(hostile))(
    'takes at most 15 times as long as 64 KiB of records: %s',
    (_, [text, type]) => {
      const record =
        '{"id":"o-4711","name":"Ada Lovelace","city":"Zürich","total":12.50,"lines":[{"sku":"a"}]},'
      const records = `[${record.repeat(700)}{}]`
      const ordinaryMs = leastMs(() => show(records), 0)
      const maxMs = 15 * ordinaryMs
      expect(leastMs(() => show(text, type ?? null), maxMs)).toBeLessThan(maxMs)
    },
  )
})
