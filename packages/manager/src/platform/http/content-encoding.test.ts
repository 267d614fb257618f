import { expect, test } from 'vitest'
import { selectEncoding } from './content-encoding.ts'

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;q=0.5 , identity', 'gzip'],
  ['br;q=0, gzip;q=1.0', 'gzip'],
  ['br; q=0.000, *', 'gzip'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['*;q=0, gzip;q=0.001', 'gzip'],
  ['identity', 'identity'],
  ['deflate', 'identity'],
  ['brotli, xgzip', 'identity'],
  ['', 'identity'],
  [undefined, 'identity'],
])('Accept-Encoding: %s gets %s', (header, expected) => {
  expect(selectEncoding(header)).toBe(expected)
})
