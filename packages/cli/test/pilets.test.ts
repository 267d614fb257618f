// Tests publishing pilets from files.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { proxySecret } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { npmPack } from '../../manager/test/kit/npm-pack.ts'
import { spawnSvc, useSvc } from './kit/svc.ts'

const { env, folder, svc, json, service, member } = useSvc()
const file = (name: string, content: string | Buffer): string => {
  const named = path.join(folder.path, name)
  writeFileSync(named, content)
  return named
}

const usedProject = 'Using project main.\n'

test('a package that npm packed is published under the name and version in it', async () => {
  const packed = npmPack(
    { name: '@shop/cart', version: '1.2.0', main: 'index.js' },
    { 'index.js': '//@pilet v:2\n' },
  )
  const { code, out, err } = await svc(['pilet', 'publish', file('cart.tgz', packed), '-p', 'main'])
  expect([code, err, out]).toEqual([
    0,
    usedProject,
    expect.stringMatching(/^Published @shop\/cart@1\.2\.0, \d+ bytes, SHA-256 [0-9a-f]{64}\.\n$/),
  ])
  expect(await json(['pilets', 'get', '@shop/cart@1.2.0', '-p', 'main'])).toMatchObject({
    name: '@shop/cart',
    version: '1.2.0',
    enabled: true,
    size: packed.length,
  })
  const again = await svc(['pilet', 'publish', path.join(folder.path, 'cart.tgz'), '-p', 'main'])
  expect([again.code, again.err]).toEqual([
    1,
    expect.stringMatching(/^Using project main\.\nsvc: The Manager rejected the request: .*exists/),
  ])
})

test('a script is published under the name that is given, and staged', async () => {
  const script = file('index.js', '//@pilet v:2\nexport const setup = () => {}\n')
  const unnamed = await svc(['pilet', 'publish', script, '-p', 'main'])
  expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining('Pass --as <name>@<version>.')])
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
  expect((await svc(['pilets', 'get', 'search', '-p', 'main'])).err).toContain('Use name@version')
})

test('a version of somebody who may not enable versions is disabled, and svc says so', async () => {
  const { token } = await createToken(service, await member('tester', 'tester'))
  const script = file('index.js', '//@pilet v:2\n')
  const publish = (as: string, ...more: string[]) =>
    svc(['pilet', 'publish', script, '-p', 'main', '--as', as, ...more], { env: { SVC_TOKEN: token } })
  const { code, out, err } = await publish('untried@0.1.0')
  expect([code, out.split(',')[0], err]).toEqual([
    0,
    'Published untried@0.1.0',
    `${usedProject}The version is disabled because you are not allowed to enable versions. Ask a developer of the project to run: svc pilets enable untried@0.1.0\n`,
  ])
  expect(await json(['pilets', 'get', 'untried@0.1.0', '-p', 'main'])).toMatchObject({ enabled: false })
  expect((await publish('untried@0.2.0', '--staged')).err).toBe(usedProject)
})

test('a version that an older Manager has published, which does not say whether it is enabled, is not called disabled', async () => {
  const older = createServer((request, response) => {
    const forward = async (): Promise<string> => {
      const { authorization = '', 'content-type': type = '' } = request.headers
      const answer = await fetch(service.url + (request.url ?? ''), {
        method: request.method ?? 'GET',
        headers: { authorization, 'content-type': type, 'x-proxy-auth': proxySecret },
        body: request.method === 'GET' ? null : await buffer(request),
      })
      return (await answer.text()).replace(/,"enabled":(true|false)/, '')
    }
    void forward().then((text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text))
  }).listen(0, '127.0.0.1')
  await once(older, 'listening')
  try {
    const url = `http://127.0.0.1:${(older.address() as AddressInfo).port}`
    const script = file('index.js', '//@pilet v:2\n')
    const publish = ['pilet', 'publish', script, '-p', 'main', '--as', 'older@1.0.0', '--url', url]
    const { code, out, err } = await svc(publish)
    expect([code, out.split(',')[0], err]).toEqual([0, 'Published older@1.0.0', usedProject])
  } finally {
    older.closeAllConnections()
    older.close()
  }
})

test('files that are no package say so', async () => {
  const publish = async (name: string, content: string | Buffer) =>
    (await svc(['pilet', 'publish', file(name, content), '-p', 'main'])).err
  expect(await publish('empty.tgz', '')).toContain('contains no pilet name and version')
  expect(await publish('other.tgz', gzipSync(Buffer.alloc(10_240)))).toContain(
    'contains no package/package.json',
  )
  expect(await publish('broken.tgz', gzipSync(randomBytes(100_000)).subarray(0, 5_000))).toMatch(
    /is not an npm package archive|contains no package/,
  )
  expect((await svc(['pilet', 'publish', '/nowhere', '-p', 'main'])).err).toBe(
    'svc: /nowhere does not exist or is not a regular file.\n',
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
    err: usedProject,
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
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^Using project main\.\n\revil\\u001b\[2J\\u000d@1\.0\.0\\u009b2J \[/),
  ])
  for (const controlCharacter of ['\u001b', '\u009b']) expect(err).not.toContain(controlCharacter)
})
