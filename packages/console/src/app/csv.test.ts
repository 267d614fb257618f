import { expect, test } from 'vitest'
import { formatCsv, parseCsv } from './csv.ts'

test.each([
  ['=1+1', "'=1+1"],
  ['  @SUM(A1)', "'  @SUM(A1)"],
  ["'=1+1", "''=1+1"],
  ['a;=1+1', '"a;\'=1+1"'],
  ['a\n-1', '"a\n\'-1"'],
  ["it's", "it's"],
  ['say "hi", now', '"say ""hi"", now"'],
])('the text %j becomes the cell %s', (text, cell) => {
  expect(formatCsv([['key', text]])).toBe(`key,${cell}\r\n`)
})

test('a file is read as it was written', () => {
  const rows = [
    ['key', 'de', 'en'],
    ['plain', 'Öffnen', ''],
    ['formulas', '=1+1', "'=1+1"],
    ['apostrophes', "'", "''a"],
    ['tabs', '\t=1', "'\t=1"],
    ['lines', 'a\n=1\r\n;@b', "a\n'=1"],
    ['quotes', '"', 'a"b""c'],
    ['separators', 'a,b;c\td', ' padded '],
  ]
  expect(parseCsv(formatCsv(rows))).toEqual(rows)
  expect(parseCsv(`\uFEFF${formatCsv(rows)}`)).toEqual(rows)
})

test.each([
  [
    'key;de;en\na;"x;y";z\n',
    [
      ['key', 'de', 'en'],
      ['a', 'x;y', 'z'],
    ],
  ],
  [
    'key\tde\na\tx, y\n',
    [
      ['key', 'de'],
      ['a', 'x, y'],
    ],
  ],
  [
    'key,de\r\n\r\na,x\r\n,\r\n',
    [
      ['key', 'de'],
      ['a', 'x'],
    ],
  ],
  [
    'key,de\na,"never closed\nb,c',
    [
      ['key', 'de'],
      ['a', 'never closed\nb,c'],
    ],
  ],
  [
    'key,de\na,"x"y,z',
    [
      ['key', 'de'],
      ['a', 'x', 'z'],
    ],
  ],
  ['', []],
])('the file %j is read', (file, rows) => {
  expect(parseCsv(file)).toEqual(rows)
})
