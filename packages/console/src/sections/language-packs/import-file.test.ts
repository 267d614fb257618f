import { expect, test } from 'vitest'
import { formatCsv } from '../../app/csv.ts'
import { toCsvRows, toJson } from './export-file.ts'
import { findTargets, previewImport, readImportFile } from './import-file.ts'
import type { Contents, Pack } from './pack-types.ts'

const createPack = (id: string): Pack => ({ id, name: id, revision: 1, updatedAt: '2026-01-01T00:00:00Z' })
const packs = ['de', 'en'].map(createPack)
const contents: Contents = new Map([
  [
    'de',
    {
      revision: 1,
      values: new Map([
        ['a.b', '=1+1'],
        ['c', 'Drei'],
      ]),
    },
  ],
  ['en', { revision: 1, values: new Map([['a.b', "'=x"]]) }],
])

/** Returns the translations of a file by locale, or the problem. */
function read(text: string) {
  const result = readImportFile(text, packs)
  if ('problem' in result) return result.problem
  return Object.fromEntries(
    [...result.file.locales].map(([name, texts]) => [name, Object.fromEntries(texts)]),
  )
}

test.each([
  ['{"a":{"b":"x","":"y"},"c":"z"}', { '': { 'a.b': 'x', a: 'y', c: 'z' } }],
  ['{"de":{"a.b":"x"},"fr":{"c":"y"}}', { de: { 'a.b': 'x' }, fr: { c: 'y' } }],
  ['{"locale":"de","messages":{"a":{"b":"x"}}}', { de: { 'a.b': 'x' } }],
  ['{"app":{"title":"x"}}', { '': { 'app.title': 'x' } }],
  ['key,de,fr\na.b,x,\nc,,y\n', { de: { 'a.b': 'x' }, fr: { c: 'y' } }],
  [`{"a":"x","${'k'.repeat(2_001)}":"y"}`, { '': { a: 'x' } }],
  [`key${',de'.repeat(1_001)}\na,x\n`, 'manyColumns'],
  ['{', 'noJson'],
  ['[1]', 'noObject'],
  ['name,de\na,x\n', 'noKeyColumn'],
  ['key\na\n', 'noLocaleColumn'],
  ['', 'noKeyColumn'],
])('the file %s is read', (text, expected) => {
  expect(read(text)).toEqual(expected)
})

test('values that are not texts are skipped', () => {
  const result = readImportFile('{"a":1,"b":null,"c":["x"],"d":"x"}', packs)
  expect('file' in result && [result.file.skipped, result.file.locales.get('')?.size]).toEqual([3, 1])
})

test('an exported file changes nothing when it is imported', () => {
  for (const text of [formatCsv(toCsvRows(packs, contents)), toJson(packs, contents)]) {
    const result = readImportFile(text, packs)
    if ('problem' in result) throw new Error(result.problem)
    const { targets, unknown } = findTargets(result.file, packs, null)
    expect([targets.length, unknown]).toEqual([2, []])
    const preview = previewImport(targets, contents, { removesOthers: false })
    expect([preview.changes, preview.unchanged]).toEqual([[], 3])
  }
})

test('the preview lists what is added, changed and removed, and keys that are not allowed', () => {
  const result = readImportFile('{"de":{"a.b":"new","x":"added","y..z":"bad"},"fr":{"c":"?"}}', packs)
  if ('problem' in result) throw new Error(result.problem)
  const { targets, unknown } = findTargets(result.file, packs, null)
  expect(unknown).toEqual(['fr'])
  const preview = previewImport(targets, contents, { removesOthers: true })
  expect(preview.changes.map(({ key, saved, value }) => [key, saved, value])).toEqual([
    ['a.b', '=1+1', 'new'],
    ['x', null, 'added'],
    ['c', 'Drei', null],
  ])
  expect([preview.added, preview.changed, preview.removed, preview.unchanged]).toEqual([1, 1, 1, 0])
  expect(preview.invalid).toEqual([{ key: 'y..z', problem: 'languagePacks.key.emptyPart' }])
})

test('nested names cannot fill the memory with keys', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => [String(index), 'x'])
  const nested = JSON.stringify({ ['k'.repeat(1_998)]: Object.fromEntries(names) })
  const result = readImportFile(nested, packs)
  expect(result).toMatchObject({ file: { skipped: 990 } })
})
