// Tests diff: its exit codes and the differences that it shows.
import { expect, test } from 'vitest'
import { compareLines } from '../src/apply/change-lines.ts'
import { shop, useApply } from './kit/apply.ts'

const { svc, json, writeDocument } = useApply()

test('it exits with 0 without differences, with 1 with differences, and with 2 after an error', async () => {
  const { file } = writeDocument('compared')
  const before = await svc(['diff', '-f', file])
  expect([before.code, before.err]).toEqual([1, ''])
  expect(before.out).toContain('+ project compared\n')
  expect(before.out).not.toContain('very secret')
  expect((await svc(['projects', 'get', 'compared'])).code).toBe(4)
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect(await svc(['diff', '-f', file])).toEqual({ code: 0, out: '', err: '' })
  expect(await json(['diff', '-f', file])).toEqual({ differs: false, steps: [] })

  await svc(['tenants', 'update', 'acme', '-p', 'compared', '--name', 'Other'])
  await svc(['tenants', 'create', 'extra', '-p', 'compared', '--name', 'Extra'])
  expect(await svc(['diff', '-f', file])).toEqual({
    code: 1,
    out: '~ tenant compared/acme\n    name: "Other" -> "Acme Ltd"\n',
    err: '',
  })
  const pruned = await svc(['diff', '-f', file, '--prune'])
  expect([pruned.code, pruned.out]).toEqual([1, expect.stringContaining('- tenant compared/extra\n')])
  const { out } = await svc(['diff', '-f', file, '-o', 'json'])
  expect(JSON.parse(out)).toMatchObject({
    differs: true,
    steps: [{ action: 'update', path: 'compared/acme' }],
  })

  const at = ['-p', 'compared', '-a', 'web']
  await svc(['triggers', 'create', 'nightly', ...at, '--cron-expression', '@daily'])
  const ambiguous = await svc(['diff', '-f', file])
  expect([ambiguous.code, ambiguous.err]).toEqual([2, expect.stringContaining('2 triggers are named')])
  expect((await svc(['diff', '-f', 'none.yaml'])).code).toBe(2)
  expect((await svc(['diff', '-f', file], { env: { SVC_URL: 'http://127.0.0.1:1' } })).code).toBe(5)
})

test('it compares long texts line by line, and language packs key by key', async () => {
  const template = (lines: readonly string[]): string =>
    `            transformationTemplate: |\n${lines.map((line) => `              ${line}\n`).join('')}`
  const textOf = (slug: string, lines: readonly string[], title: string): string =>
    shop(slug)
      .replace(/ +transformationTemplateFile: .*\n/, template(lines))
      .replace('Warenkorb', title)
  const { file } = writeDocument('lines', textOf('lines', ['a', 'b', 'c', 'd', 'e', 'f'], 'Warenkorb'))
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const { file: changed } = writeDocument('lines', textOf('lines', ['a', 'b', 'c', 'x', 'e', 'f'], 'Korb'))
  expect((await svc(['diff', '-f', changed])).out).toBe(
    [
      '~ endpoint lines/web/orders',
      '    transformationTemplate:',
      '        b',
      '        c',
      '      - d',
      '      + x',
      '        e',
      '        f',
      '      …',
      '    authPassword (erp.password): not sent',
      '~ language pack lines/de',
      '    content.cart.title: "Warenkorb" -> "Korb"',
      '',
    ]
      .filter((line) => !line.includes('not sent'))
      .join('\n'),
  )
  const colored = await svc(['diff', '-f', changed], { isTerminal: true })
  expect(colored.out).toContain('\u001b[31m  - d\u001b[0m')
  expect(colored.out).toContain('\u001b[32m  + x\u001b[0m')
})

test('lines are compared with few marks, and many lines in bounded time', () => {
  expect(compareLines(['a', 'b', 'c'], ['a', 'c'])).toEqual(['    a', '  - b', '    c'])
  expect(compareLines(['a'], ['a', 'b'])).toEqual(['    a', '  + b'])
  expect(compareLines(['x', 'a', 'y'], ['a', 'z'])).toEqual(['  - x', '    a', '  - y', '  + z'])
  const [before, after] = ['old', 'new'].map((word) =>
    Array.from({ length: 5_000 }, (_, index) => `${word} ${index}`),
  )
  expect(compareLines(before ?? [], after ?? [])).toHaveLength(10_000)
})
