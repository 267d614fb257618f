// These tests validate the URLs of an endpoint with realistic and with unusual input.
import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findConsumeUrlProblem, findUrlProblem } from './endpoint-rules.pure.ts'

const rooted =
  'consumeURL must be a path that starts with a single /, such as /orders; it must not be an absolute URL'
const absolute =
  'url must be an absolute http or https URL with a host, such as https://partner.example/orders'
const withCredentials =
  'url must not contain a user name or password; use authType, authUsername and authPassword'

/** Checks that each value is rejected with this message. */
function expectProblems(problemOf: (value: string) => string | null, said: string, texts: string[]): void {
  expect(texts.map((text) => [text, problemOf(text)])).toEqual(texts.map((text) => [text, said]))
}
function expectFine(problemOf: (value: string) => string | null, texts: string[]): void {
  expect(texts.filter((text) => problemOf(text) !== null)).toEqual([])
}

describe('consumeURL', () => {
  test('[endpoints.consume-url] a rooted path passes, whatever stands in it that a request line can hold', () => {
    expectFine(findConsumeUrlProblem, [
      '/',
      '/orders',
      '/orders/',
      '/Orders',
      '/v1/orders//items',
      '/orders.v1/.well-known',
      '/orders%20new/%C3%BC',
      "/!$&'()*+,;=:@-._~",
      '/orders/{id}',
      `/${'a'.repeat(499)}`,
    ])
  })

  test('[endpoints.consume-url] what is not rooted, or is an absolute URL, is refused', () => {
    expectProblems(findConsumeUrlProblem, rooted, [
      '',
      'orders',
      './orders',
      ' /orders',
      'https://partner.example/orders',
      'HTTP://partner.example',
      'mailto:a@b',
      // A URL without a scheme.
      '//partner.example/orders',
      '//',
    ])
  })

  test('[endpoints.consume-url] two dots, whitespace and more than 500 characters are refused', () => {
    expectProblems(findConsumeUrlProblem, 'consumeURL must not contain ..', [
      '/..',
      '/a/../b',
      '/a..b',
      '/...',
    ])
    const blanks = [' ', '\t', '\n', '\r', '\v', '\f', '\u00a0', '\u2003', '\u2028', '\u3000', '\ufeff']
    for (const blank of blanks)
      expectProblems(findConsumeUrlProblem, 'consumeURL must not contain whitespace', [
        `/${blank}`,
        `/a${blank}b`,
        `/a${blank}`,
      ])
    expectProblems(findConsumeUrlProblem, 'consumeURL must have at most 500 characters', [
      `/${'a'.repeat(500)}`,
      `/${'a'.repeat(100_000)}`,
    ])
  })

  test('[endpoints.consume-url] what a request line cannot hold as a path is refused', () => {
    expectProblems(findConsumeUrlProblem, 'consumeURL is a path: it must not contain ?, # or a backslash', [
      '/a?b',
      '/a#b',
      '/a\\b',
      '/?',
    ])
    expectProblems(
      findConsumeUrlProblem,
      'consumeURL must contain only ASCII characters; encode other characters as %XX',
      ['/ü', '/🙂', '/a\0', '/a\u001b', '/a\u007f', '/a\u0085', '/\ud83d', '/\u200b'],
    )
    expectProblems(findConsumeUrlProblem, 'consumeURL must contain only % escapes of valid UTF-8', [
      '/%',
      '/a%2',
      '/a%zz',
      '/caf%e9',
      '/%c3',
      '/%ed%a0%80',
    ])
  })

  test('[endpoints.consume-url] exactly the texts pass that the rule describes', () => {
    const anyPath = fc.oneof(
      fc.string({ unit: fc.constantFrom('/', '.', 'a', '%', '2', 'e', '?', '#', '\\', ' ', 'ü', '\n', ':') }),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('/', '.', 'a') }),
      fc.string({ unit: fc.constantFrom('a', '/'), minLength: 497, maxLength: 503 }),
    )
    fc.assert(
      fc.property(anyPath, fc.constantFrom('', '/'), (text, start) => {
        const value = start + text
        // The same rule, written character by character.
        const characters = Array.from(value)
        const isFine =
          characters.length <= 500 &&
          characters[0] === '/' &&
          characters[1] !== '/' &&
          characters.every((one) => one > ' ' && one < '\u007f' && !'?#\\'.includes(one)) &&
          characters.every((one, index) => one !== '.' || characters[index + 1] !== '.') &&
          !/%(?![\da-f]{2})/i.test(value) &&
          isUtf8(Buffer.from(unescape(value), 'latin1'))
        expect(findConsumeUrlProblem(value) === null).toBe(isFine)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('url', () => {
  test('[endpoints.url] absolute http and https URLs with a host pass', () => {
    expectFine(findUrlProblem, [
      'https://partner.example',
      'http://partner.example/orders',
      'HTTPS://Partner.Example/Orders',
      'https://partner.example:8443/a/b?x=1&y=%20',
      'http://10.0.0.1/',
      'http://localhost:3000',
      'http://[::1]:3000/a',
      'http://orders.internal.svc.cluster.local/soap',
      `https://partner.example/${'a'.repeat(500 - 'https://partner.example/'.length)}`,
    ])
  })

  test('[endpoints.url] other schemes, relative addresses and a missing host are refused', () => {
    expectProblems(findUrlProblem, absolute, [
      '',
      ' ',
      '/orders',
      'orders',
      'partner.example',
      'partner.example:8080',
      '//partner.example/orders',
      'ftp://partner.example/',
      'ws://partner.example/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'javascript://partner.example/',
      'data:text/plain,x',
      'https:partner.example',
      'https:/partner.example',
      'http://',
      'https://?x=1',
      'https://:8443',
      'https://partner.example:99999/',
      'https://part ner.example/',
      'https://[::1',
      ' https://partner.example/',
    ])
  })

  test('[endpoints.url] credentials in the address, a fragment and more than 500 characters are refused', () => {
    expectProblems(findUrlProblem, withCredentials, [
      'https://user@partner.example/',
      'https://user:password@partner.example/',
      'https://:password@partner.example/',
    ])
    expectProblems(findUrlProblem, 'url must not contain a fragment', ['https://partner.example/#part'])
    const tooLong = `https://partner.example/${'a'.repeat(501 - 'https://partner.example/'.length)}`
    expectProblems(findUrlProblem, 'url must have at most 500 characters', [tooLong, `${tooLong}a`])
  })

  test('[endpoints.url] of addresses put together from parts, exactly those pass whose parts are right', () => {
    const parts = fc.record({
      scheme: fc.constantFrom('http', 'https', 'HTTP', 'Https', 'ftp', 'ws', 'file', 'gopher', ''),
      slashes: fc.constantFrom('://', '://', '://', ':/', ':'),
      user: fc.constantFrom('', '', '', 'user@', 'user:password@', ':password@'),
      host: fc.constantFrom('a', 'partner.example', '10.0.0.1', '[::1]', 'xn--bcher-kva.example', ''),
      port: fc.constantFrom('', ':1', ':8443', ':65535'),
      path: fc.constantFrom('', '/', '/orders', '/a/../b', '/a//b;x'),
      query: fc.constantFrom('', '?x=1', '?x=http://other.example/'),
      fragment: fc.constantFrom('', '', '#part'),
    })
    fc.assert(
      fc.property(parts, ({ scheme, slashes, user, host, port, path, query, fragment }) => {
        // Without a host, the following part could be parsed as the host.
        const rest = host === '' ? query : port + path + query
        const value = scheme + slashes + user + host + rest + fragment
        const isFine =
          /^https?$/i.test(scheme) && slashes === '://' && user === '' && host !== '' && fragment === ''
        expect([value, findUrlProblem(value) === null]).toEqual([value, isFine])
      }),
      { numRuns: 3_000 },
    )
  })

  test('[endpoints.url] no text at all makes the check fail, and what passes is an address to call', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), fc.string()),
        fc.constantFrom('', 'http://', 'https://'),
        (text, start) => {
          const value = start + text
          if (findUrlProblem(value) !== null) return
          const { protocol, hostname, username, password, hash } = new URL(value)
          expect(['http:', 'https:']).toContain(protocol)
          expect([hostname === '', username, password, hash]).toEqual([false, '', '', ''])
          expect(value.length).toBeLessThanOrEqual(500)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
