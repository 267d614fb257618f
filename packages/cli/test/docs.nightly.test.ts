// Runs the commands on the documentation pages about svc one at a time, as a reader would in a terminal.
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { npmPack } from '../../manager/test/kit/npm-pack.ts'
import { blocksOf, readPage } from '../../manager/test/kit/doc-page-runner.ts'
import { exitCodes } from '../src/failures.ts'
import { useSvc } from './kit/svc.ts'

/** The pages, ordered so that each page follows the pages that its commands depend on. */
const page = [
  'guides/maintainers/sign-in-from-a-terminal.md',
  'guides/maintainers/use-svc.md',
  'guides/maintainers/change-settings.md',
  'guides/maintainers/apply-a-file.md',
  'guides/frontends/publish-a-pilet.md',
  'reference/cli.md',
]
  .map(readPage)
  .join('\n')
const blocks = blocksOf(page)
const { folder, svc } = useSvc()
const previousFolder = process.cwd()
beforeAll(() => {
  process.chdir(folder.path)
  writeFileSync('shop.yaml', blocks.find(({ language }) => language === 'yaml')?.text ?? '')
  writeFileSync('order.json', '{"id": 1}')
  writeFileSync('shop-cart-1.2.0.tgz', npmPack({ name: '@shop/cart', version: '1.2.0' }, { 'index.js': '' }))
  mkdirSync('dist')
  writeFileSync('dist/index.js', '//@pilet v:2\n')
})
afterAll(() => process.chdir(previousFolder))

/** Commands that need a browser or redirect their output, or that do not end. */
const unplayed = /^svc (login|completion) | --(follow|watch)\b/
const isPlayed = (line: string): boolean => line.startsWith('svc ') && !unplayed.test(line)
const lines = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n'))
  // Commands inside a Markdown list are indented.
  .map((line) => line.trim())
  .filter(isPlayed)

test('every command of the page works, in the order of the page', async () => {
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
    const { code, err } = await svc(words.slice(1), { isTerminal: true, input: 'y\n' })
    expect([line, code, err]).toEqual([line, 0, err])
  }
  const again = await svc(['apply', '-f', 'shop.yaml'])
  expect(again.out).toContain('Nothing to do.')
})

test('its table has every exit code', () => {
  const rows = readPage('reference/cli.md').matchAll(/^\| (\d+) +\| /gm)
  expect([...rows].map(([, code]) => Number(code))).toEqual(Object.values(exitCodes))
})

test('its completion commands name shells that there are', async () => {
  for (const [, shell = ''] of page.matchAll(/^svc completion (\w+) >/gm))
    expect((await svc(['completion', shell])).code).toBe(0)
})
