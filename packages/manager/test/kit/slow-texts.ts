// Texts of 64 KiB that are made to be slow to redact.
import * as fc from 'fast-check'
import { redactBody, redactHeaders, redactUrl } from '../../src/features/call-log/redact.pure.ts'
import type { Budget } from '../../src/features/call-log/redact-budget.pure.ts'
import { symbols } from './symbols.ts'

/** Runs within a budget. */
type ExpectBounded = (run: (budget: Budget) => void) => void

const most = 65_536

export const filled = (unit: string, length = most): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
export const about = (body: Buffer, contentType: string | null, isCut = false) => ({
  totalBytes: body.length + Number(isCut),
  contentType,
  contentEncoding: null,
})

export const parts = 'multipart/form-data; boundary='
export const hostile: Record<string, [string, string?]> = {
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

export function expectBodyBounded(
  expectBounded: ExpectBounded,
  text: string,
  contentType: string | null,
  isCut = false,
): void {
  const body = Buffer.from(text).subarray(0, most)
  expectBounded((budget) => redactBody(body, about(body, contentType, isCut), budget))
}

/** Bodies that are made of the symbols of all grammars. */
export function expectBodiesBounded(expectBounded: ExpectBounded): void {
  fc.assert(
    fc.property(texts, fc.constantFrom(...types), fc.boolean(), (text, type, isCut) => {
      const body = Buffer.from(text, type?.includes('utf-16') === true ? 'utf16le' : 'utf8').subarray(0, most)
      expectBounded((budget) => redactBody(body, about(body, type, isCut), budget))
    }),
    { numRuns: 150 },
  )
}

/** Queries and headers of the same. */
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
