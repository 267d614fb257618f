// Strings of 64 KiB that are designed to be slow to redact.
import * as fc from 'fast-check'
import { redactBody, redactHeaders, redactUrl } from '../../src/features/call-log/redact.pure.ts'
import type { Budget } from '../../src/features/call-log/redact-budget.pure.ts'
import { symbols } from './symbols.ts'

/** Runs the function with a budget and expects it to stay within the budget. */
type ExpectBounded = (run: (budget: Budget) => void) => void

const maxLength = 65_536

export const repeatToLength = (unit: string, length = maxLength): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
export const bodyInfo = (body: Buffer, contentType: string | null, isTruncated = false) => ({
  totalBytes: body.length + Number(isTruncated),
  contentType,
  contentEncoding: null,
})

export const parts = 'multipart/form-data; boundary='
export const hostile: Record<string, [string, string?]> = {
  'instructions in lists': [repeatToLength('[<?=')],
  'a tag of blanks': [`<a${' '.repeat(maxLength - 10)}<pin`],
  'a tag of blanks and slashes': [`<a${' / '.repeat(maxLength / 3 - 4)}<pin`],
  'marks to sort': [`{"pin${'\u0300'.repeat(16_000)}${'\u0316'.repeat(16_000)}":1}`],
  'letters that become eighteen': [`{"pin${'\ufdfa'.repeat(21_000)}":1}`],
  'a name of many parts': [`xpinx${repeatToLength('.a', maxLength - 10)}=`],
  'a key of many parts': [`{"xpinx${repeatToLength('.a', maxLength - 20)}":1}`],
  'parts in parts': [Array.from({ length: 4_500 }, (_, i) => `--${i}\ncontent-\n\n`).join('')],
  'many parts': [repeatToLength('--x\n\na\n'), `${parts}x`],
  'a boundary that is everywhere': [repeatToLength('-'), `${parts}"${'-'.repeat(200)}"`],
  'many pairs': [repeatToLength('a=&'), 'application/x-www-form-urlencoded'],
  'many secrets': [repeatToLength('pin:b\n')],
  'many credentials': [repeatToLength('basic a ')],
  'many tags': [`&pin\n${repeatToLength('<a>')}`],
  'many attributes': [`<pin ${repeatToLength('a=b ')}`],
  'many beginnings of JSON': [`&pin\n${repeatToLength('{"')}`],
  'escaped backslashes': [`&pin\n${repeatToLength('\\\\')}`],
  'escaped escapes': [`pin ${repeatToLength('%25')}`],
  references: [`}{"${repeatToLength('&lt;')}`],
  'queries in queries': [repeatToLength('ﷺpassword=x&%3D{"a=1;&quot;[1,\n%25%26basic a ","/--x')],
}

const types = [null, 'application/x-www-form-urlencoded', `${parts}x`, 'text/plain; charset=utf-16le']
const unit = fc.array(fc.constantFrom(...symbols), { minLength: 1, maxLength: 12 }).map((all) => all.join(''))
const run = fc.tuple(unit, fc.constantFrom(1, 2, 30, 1_000, maxLength))
const texts = fc
  .array(run, { minLength: 1, maxLength: 4 })
  .map((all) => all.map(([text, times]) => text.repeat(Math.min(times, maxLength))).reduceRight(joined, ''))
/** Truncates the first string, so that the following strings stay complete. */
function joined(rest: string, text: string): string {
  return text.slice(0, Math.max(1, maxLength - rest.length)) + rest
}

export function expectBodyBounded(
  expectBounded: ExpectBounded,
  text: string,
  contentType: string | null,
  isTruncated = false,
): void {
  const body = Buffer.from(text).subarray(0, maxLength)
  expectBounded((budget) => redactBody(body, bodyInfo(body, contentType, isTruncated), budget))
}

/** Expects bounded work for random bodies that mix the symbols of all grammars. */
export function expectBodiesBounded(expectBounded: ExpectBounded): void {
  fc.assert(
    fc.property(texts, fc.constantFrom(...types), fc.boolean(), (text, type, isTruncated) => {
      const body = Buffer.from(text, type?.includes('utf-16') === true ? 'utf16le' : 'utf8').subarray(
        0,
        maxLength,
      )
      expectBounded((budget) => redactBody(body, bodyInfo(body, type, isTruncated), budget))
    }),
    { numRuns: 150 },
  )
}

/** Expects bounded work for queries and headers that are built from the same strings. */
export function expectQueriesAndHeadersBounded(expectBounded: ExpectBounded): void {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 400 }), (text, count) => {
      const short = text.slice(0, 16_000)
      expectBounded((budget) => redactUrl(`https://h/?${short}`, budget))
      const raw = Array.from({ length: count }, (_, i) => short.slice((i * short.length) / count)).flatMap(
        (value) => [value.slice(0, 20), value.slice(0, short.length / count)],
      )
      expectBounded((budget) => redactHeaders(raw, budget))
    }),
    { numRuns: 100 },
  )
}
