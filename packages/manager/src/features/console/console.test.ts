// Tests how the Manager serves the console: the page, its files, their headers, and the gate. The build is a small
// folder; the browser tests use the real console.
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf, proxySecret } from '@manager/harness/callers.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { writeConsoleBuild } from '../../../test/kit/console.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { readConsoleBuild } from './build.service.ts'

const page =
  '<!doctype html><title>Console</title><script type="module" src="/console/assets/a-1.js"></script>'
const script = 'export const text = "console"\n'.repeat(200)
const image = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

const folder = writeConsoleBuild(page, {
  'a-1.js': script,
  'a-2.css': 'p { margin: 0 }',
  'a-3.svg': '<svg/>',
  'a-4.png': image,
  'a-5.map': '{}',
})
let service: TestApp
let person: Person

beforeAll(async () => {
  writeFileSync(path.join(folder, 'secret.txt'), 'not part of the console')
  service = await startTestApp({ world: { consoleFolder: folder } })
  person = await seedUser(service.sql, 'alice')
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

type Headers = Record<string, string>
const ask = (address: string, headers: Headers = {}, more: { method?: string; of?: TestApp } = {}) =>
  rawCall((more.of ?? service).url, {
    method: more.method ?? 'GET',
    path: address,
    headers: Object.entries({ ...headersOf(person), ...headers }),
  })
describe('the page', () => {
  test.each([
    '/console',
    '/console/',
    '/console/shop/tenants',
    '/console/shop/esb?filter=a%2Fb&open=1',
    '/console/assets',
  ])('is the same at every address of the console: %s', async (address) => {
    const { status, headers, body } = await ask(address, { accept: 'text/html' })
    expect([status, body]).toEqual([200, page])
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
    })
  })

  test('is sent again only if it has changed', async () => {
    const { etag } = (await ask('/console/')).headers
    expect(etag).toMatch(/^"[\w-]{27}-identity"$/)
    const again = await ask('/console/shop', { 'if-none-match': String(etag) })
    expect([again.status, again.body, again.headers.etag]).toEqual([304, '', etag])
    expect(again.headers['content-security-policy']).toBe(policy)
    expect((await ask('/console/', { 'if-none-match': '"other"' })).status).toBe(200)
    const compressed = await ask('/console/', { 'if-none-match': String(etag), 'accept-encoding': 'gzip' })
    expect(compressed.status).toBe(200)
    expect(compressed.headers.etag).not.toBe(etag)
  })

  test('HEAD returns its headers', async () => {
    const { status, headers, body } = await ask('/console/', {}, { method: 'HEAD' })
    expect([status, headers['content-length'], body]).toEqual([200, String(page.length), ''])
    expect((await ask('/console/', {}, { method: 'POST' })).status).toBe(404)
  })
})

describe('a file of the console', () => {
  test.each([
    ['a-1.js', 'text/javascript; charset=utf-8', script],
    ['a-2.css', 'text/css; charset=utf-8', 'p { margin: 0 }'],
    ['a-3.svg', 'image/svg+xml', '<svg/>'],
    ['a-4.png', 'image/png', image.toString()],
    ['a-5.map', 'application/octet-stream', '{}'],
  ])('%s has its type and is kept by the browser', async (name, type, content) => {
    const { status, headers, body } = await ask(`/console/assets/${name}`)
    expect([status, body]).toEqual([200, content])
    expect(headers).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': policy,
      vary: 'accept-encoding',
    })
    const head = await ask(`/console/assets/${name}`, {}, { method: 'HEAD' })
    expect([head.status, head.headers['content-length'], head.body]).toEqual([
      200,
      headers['content-length'],
      '',
    ])
  })

  test('is compressed as the client accepts it, but not an image', async () => {
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const { headers } = await ask(
        '/console/assets/a-1.js',
        { 'accept-encoding': accepted },
        { method: 'HEAD' },
      )
      expect([accepted, headers['content-encoding']]).toEqual([accepted, encoding])
      const isSmall = Number(headers['content-length']) < script.length / 10
      expect([accepted, isSmall]).toEqual([accepted, encoding !== undefined])
      const response = await fetch(`${service.url}/console/assets/a-1.js`, {
        headers: { ...headersOf(person), 'accept-encoding': accepted },
      })
      expect(await response.text()).toBe(script)
    }
    const { headers } = await ask('/console/assets/a-4.png', { 'accept-encoding': 'br, gzip' })
    expect(headers['content-encoding']).toBeUndefined()
  })

  test('that does not exist is an error that no cache keeps', async () => {
    for (const address of ['/console/assets/a-9.js', '/console/assets/', '/console/assets/a/b.js']) {
      const { status, headers, body } = await ask(address)
      expect([address, status, headers['cache-control']]).toEqual([address, 404, 'no-store'])
      expect(body).toContain('the console has no such file; reload the page to get the current version')
    }
  })

  test.each([
    '/console/assets/..%2fsecret.txt',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/assets/../secret.txt',
    '/console/assets/%2e%2e/secret.txt',
    '/console/assets/..%5csecret.txt',
    '/console/assets/a-1.js%00',
    '/console/assets//a-1.js',
    '/console/assets/__proto__',
    '/console/assets/constructor',
  ])('is selected by its exact name: %s', async (address) => {
    expect((await ask(address)).status).toBe(404)
  })

  test('outside of assets/ is not served', async () => {
    for (const address of ['/console/secret.txt', '/console/../secret.txt', '/console/%2e%2e/secret.txt'])
      expect((await ask(address)).body).not.toContain('not part of the console')
  })
})

describe('the gate', () => {
  test('is closed without the proxy secret, for the page and for files', async () => {
    for (const address of ['/console', '/console/', '/console/shop', '/console/assets/a-1.js']) {
      const answers = [
        await ask(address, { 'x-proxy-auth': 'wrong' }),
        await rawCall(service.url, { path: address, headers: [['x-token-subject', person.id]] }),
      ]
      for (const { status, headers, body } of answers) {
        expect([address, status, headers['cache-control']]).toEqual([address, 401, 'no-store'])
        expect(JSON.parse(body).error).toMatch(/^missing or invalid X-Proxy-Auth header/)
      }
    }
  })

  test('without a person, the page says to sign in, and files are served', async () => {
    const anonymous = (address: string, accept: string) =>
      rawCall(service.url, {
        path: address,
        headers: [
          ['x-proxy-auth', proxySecret],
          ['accept', accept],
        ],
      })
    const shown = await anonymous('/console/', 'text/html')
    expect([shown.status, shown.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
    expect(shown.body).toContain('You are not signed in')
    const fetched = await anonymous('/console/', '*/*')
    expect([fetched.status, JSON.parse(fetched.body).error]).toEqual([
      401,
      expect.stringMatching(/^no authenticated user/),
    ])
    expect((await anonymous('/console/assets/a-1.js', '*/*')).status).toBe(200)
  })

  test('a personal access token opens the page too', async () => {
    const { token } = await createToken(service, person)
    const { status } = await rawCall(service.url, {
      path: '/console/',
      headers: [
        ['x-proxy-auth', proxySecret],
        ['authorization', `Bearer ${token}`],
      ],
    })
    expect(status).toBe(200)
  })
})

describe('without the console', () => {
  test('that is not built, the service starts and the page says how to build it', async () => {
    const unbuilt = await startTestApp({
      database: service.database,
      world: { consoleFolder: `${folder}/none` },
    })
    for (const address of ['/console/', '/console/shop']) {
      const { status, headers, body } = await ask(address, { accept: 'text/html' }, { of: unbuilt })
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        404,
        'text/html; charset=utf-8',
        'no-store',
      ])
      expect(body).toContain('npm run build -w packages/console')
    }
    expect((await ask('/console/assets/a-1.js', {}, { of: unbuilt })).status).toBe(404)
    expect((await ask('/health', {}, { of: unbuilt })).status).toBe(200)
    await unbuilt.close()
  })

  test('that is turned off, its paths are like any unknown path', async () => {
    const off = await startTestApp({
      database: service.database,
      env: { SVC_CONSOLE_ENABLED: 'false' },
      world: { consoleFolder: folder },
    })
    for (const address of ['/console', '/console/', '/console/shop', '/console/assets/a-1.js']) {
      const { status, body } = await ask(address, {}, { of: off })
      expect([address, status, JSON.parse(body).error]).toEqual([address, 404, 'no such route'])
    }
    await off.close()
  })
})

test('a build that is too large for memory stops the start', () => {
  const large = writeConsoleBuild(page, { 'a.js': Buffer.alloc(33_554_433) })
  expect(() => readConsoleBuild(large)).toThrow('has more than 33554432 bytes')
  rmSync(large, { recursive: true })
})
