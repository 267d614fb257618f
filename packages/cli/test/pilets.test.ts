// Pilets: from a file to the Manager.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { npmPack } from '../../manager/test/kit/npm-pack.ts'
import { spawnSvc, useSvc } from './kit/svc.ts'

const { env, folder, svc, json } = useSvc()
const file = (name: string, content: string | Buffer): string => {
  const named = path.join(folder.path, name)
  writeFileSync(named, content)
  return named
}

test('a package that npm packed is published under the name and version in it', async () => {
  const packed = npmPack(
    { name: '@shop/cart', version: '1.2.0', main: 'index.js' },
    { 'index.js': '//@pilet v:2\n' },
  )
  const { code, out, err } = await svc(['pilet', 'publish', file('cart.tgz', packed), '-p', 'main'])
  expect([code, err, out]).toEqual([
    0,
    '',
    expect.stringMatching(/^Published @shop\/cart@1\.2\.0, \d+ bytes, SHA-256 [0-9a-f]{64}\.\n$/),
  ])
  expect(await json(['pilets', 'get', '@shop/cart@1.2.0', '-p', 'main'])).toMatchObject({
    name: '@shop/cart',
    version: '1.2.0',
    enabled: true,
    size: packed.length,
  })
  const again = await svc(['pilet', 'publish', path.join(folder.path, 'cart.tgz'), '-p', 'main'])
  expect([again.code, again.err]).toEqual([1, expect.stringMatching(/^svc: The Manager refused: .*exists/)])
})

test('a script is published under the name that is given, and staged', async () => {
  const script = file('index.js', '//@pilet v:2\nexport const setup = () => {}\n')
  const unnamed = await svc(['pilet', 'publish', script, '-p', 'main'])
  expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining('Name it: --as <name>@<version>')])
  const publish = [
    'pilet',
    'publish',
    script,
    '-p',
    'main',
    '--as',
    'search@0.1.0',
    '--staged',
    '--description',
    'A search',
  ]
  expect(await json(publish)).toMatchObject({ name: 'search', version: '0.1.0' })
  const get = () => json(['pilets', 'get', 'search@0.1.0', '-p', 'main'])
  expect(await get()).toMatchObject({ enabled: false, description: 'A search' })
  expect((await svc(['pilets', 'enable', 'search@0.1.0', '-p', 'main'])).code).toBe(0)
  expect((await svc(['pilets', 'update', 'search@0.1.0', '-p', 'main', '--description', 'Finds'])).code).toBe(
    0,
  )
  expect(await get()).toMatchObject({ enabled: true, description: 'Finds' })
  expect((await svc(['pilets', 'delete', 'search@0.1.0', '-p', 'main', '--yes'])).code).toBe(0)
  expect(await get()).toMatchObject({ enabled: false })
  expect(((await json(['pilets', 'list', '-p', 'main'])) as object[]).length).toBe(2)
  expect((await svc(['pilets', 'get', 'search', '-p', 'main'])).err).toContain('Write it as name@version')
})

test('files that are no package say so', async () => {
  const publish = async (name: string, content: string | Buffer) =>
    (await svc(['pilet', 'publish', file(name, content), '-p', 'main'])).err
  expect(await publish('empty.tgz', '')).toContain('does not say which pilet it is')
  expect(await publish('other.tgz', gzipSync(Buffer.alloc(10_240)))).toContain('has no package/package.json')
  expect(await publish('broken.tgz', gzipSync(randomBytes(100_000)).subarray(0, 5_000))).toMatch(
    /is not a package that npm packed|has no package/,
  )
  expect((await svc(['pilet', 'publish', '/nowhere', '-p', 'main'])).err).toBe(
    'svc: There is no file /nowhere.\n',
  )
})

test('progress is shown on a terminal and not in a pipe', async () => {
  const named = file('large.js', Buffer.alloc(10_000_000, '// a large pilet\n'))
  const publish = ['pilet', 'publish', named, '-p', 'main']
  const shown = await spawnSvc([...publish, '--as', 'large@1.0.0'], { env, isTerminal: true }).ended
  expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('Published large@1.0.0')])
  const percents = [...shown.out.matchAll(/\rlarge@1\.0\.0 \[#*\.*\] +(\d+) % of/g)].map(([, percent]) =>
    Number(percent),
  )
  expect(percents.length).toBeGreaterThan(50)
  expect(percents).toEqual(percents.toSorted((one, other) => one - other))
  expect(percents.at(-1)).toBe(100)
  const piped = await spawnSvc([...publish, '--as', 'large@1.0.1'], { env }).ended
  expect(piped).toEqual({
    code: 0,
    err: '',
    out: expect.stringMatching(/^Published large@1\.0\.1/) as string,
  })
})

test('the name in a package does not steer a terminal', async () => {
  mkdirSync(path.join(folder.path, 'package'))
  const manifest = { name: 'evil\u001b[2J\r', version: '1.0.0\u009b2J' }
  file('package/package.json', JSON.stringify(manifest))
  const packed = path.join(folder.path, 'evil.tgz')
  execFileSync('tar', ['-czf', packed, '-C', folder.path, 'package/package.json'])
  const { code, err } = await svc(['pilet', 'publish', packed, '-p', 'main'], { isTerminal: true })
  expect([code, err]).toEqual([1, expect.stringMatching(/^\revil\?\[2J\?@1\.0\.0\?2J \[/)])
  for (const steering of ['\u001b', '\u009b']) expect(err).not.toContain(steering)
})
