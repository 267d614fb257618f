// Tests frontends, pilets, the gateway and the login against the real service.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { decide, openTerminal } from '@manager/harness/cli-login.ts'
import { type Gateway, startGateway } from '../../manager/test/kit/gateway.ts'
import { npmPack } from '../../manager/test/kit/npm-pack.ts'
import {
  createLanguagePackDocument,
  getSettingsDocument,
  updateBackendModuleConfigDocument,
  updateFrontendModuleConfigDocument,
  updateLanguagePackContentDocument,
} from '../src/generated/documents.ts'
import {
  type Connection,
  callEsb,
  connect,
  frontendConfig,
  graphql,
  languagePack,
  piletFeed,
  pollCliLogin,
  publishPilet,
  startCliLogin,
} from '../src/index.ts'

let gateway: Gateway
let proxy: Connection
let admin: Connection
let machine: Connection
let place: { applicationId: string; tenantId: string }
beforeAll(async () => {
  gateway = await startGateway()
  const { url } = gateway.service
  proxy = connect({ url, headers: { 'x-proxy-auth': proxySecret } })
  admin = connect({ url, headers: headersOf(gateway.admin) })
  machine = connect({ url, token: gateway.machine.token })
  place = { applicationId: gateway.project.applicationId, tenantId: gateway.project.tenantId }
})
afterAll(() => gateway.close())

const bundle = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe('a frontend', () => {
  test('reads its configuration, its messages and its pilets', async () => {
    const projectId = gateway.project.id
    const { settings } = await graphql(admin, getSettingsDocument, { tenant: place.tenantId })
    const { id } = settings.frontendSetting
    const input = { EnabledThemes: ['dark'], DefaultTheme: 'dark', KeyValuePairs: [{ Key: 'a', Value: '1' }] }
    await graphql(admin, updateFrontendModuleConfigDocument, { id, input })
    await graphql(admin, updateBackendModuleConfigDocument, {
      id: settings.backendSetting.id,
      input: { EnabledModules: ['@shop/cart'] },
    })
    expect(await frontendConfig(proxy, place)).toEqual({
      enabledModules: ['@shop/cart'],
      enabledThemes: ['dark'],
      defaultTheme: 'dark',
      enabledLocales: [],
      defaultLocale: '',
      keyValuePairs: [{ key: 'a', value: '1' }],
      projectId,
    })
    const { createLanguagePack } = await graphql(admin, createLanguagePackDocument, {
      projectId,
      input: { name: 'de' },
    })
    await graphql(admin, updateLanguagePackContentDocument, {
      id: createLanguagePack.id,
      input: { content: [{ Key: 'cart.title', Value: 'Korb' }] },
    })
    expect(await languagePack(proxy, { ...place, locale: 'de-AT' })).toEqual({
      locale: 'de',
      messages: { cart: { title: 'Korb' } },
    })
    await publishPilet(admin, {
      projectId,
      name: '@shop/cart',
      version: '1.0.0',
      content: bundle('//@pilet v:2'),
    })
    expect(await piletFeed(proxy, place)).toMatchObject([
      { name: '@shop/cart', version: '1.0.0', spec: 'v2' },
    ])
    expect(await piletFeed(proxy, { applicationId: place.applicationId })).toEqual([])
  })

  test('of an application that a tenant does not have gets a ResponseError', async () => {
    const tenantId = '01a1e1f0-0000-7000-8000-000000000000'
    await expect(frontendConfig(proxy, { ...place, tenantId })).rejects.toMatchObject({ status: 404 })
  })
})

describe('a pilet', () => {
  const kept = async (name: string, version: string) => {
    const { rows } = await gateway.service.sql.query<Record<string, unknown>>(
      'select hash, enabled, description, content_type from pilet_packages where name = $1 and version = $2',
      [name, version],
    )
    return rows[0]
  }

  test('is uploaded in parts, and progress is told until all bytes are on their way', async () => {
    const content = Uint8Array.from(randomBytes(1_000_000))
    const told: { sentBytes: number; totalBytes: number }[] = []
    const published = await publishPilet(admin, {
      projectId: gateway.project.id,
      name: '@shop/large',
      version: '1.2.3-rc.1',
      content,
      description: 'a & b',
      enabled: false,
      onProgress: (progress) => told.push(progress),
    })
    expect(published).toMatchObject({ size: 1_000_000, hash: sha256(content) })
    expect(await kept('@shop/large', '1.2.3-rc.1')).toMatchObject({
      enabled: false,
      description: 'a & b',
    })
    const sent = told.map(({ sentBytes }) => sentBytes)
    expect(sent).toEqual(sent.toSorted((a, b) => a - b))
    expect(sent.length).toBeGreaterThan(10)
    expect(told.at(-1)?.sentBytes).toBe(told.at(-1)?.totalBytes)
    expect(told[0]?.totalBytes).toBeGreaterThan(1_000_000)
  })

  test('is read while it is sent', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'pilet-')), 'index.js')
    writeFileSync(path, randomBytes(1_000_000))
    const body = Promise.withResolvers<ReadableStream<Uint8Array>>()
    const uploading = publishPilet(
      connect({
        url: gateway.service.url,
        fetch: (_url, init) => {
          body.resolve(init?.body as ReadableStream<Uint8Array>)
          return Promise.resolve(new Response('{}'))
        },
      }),
      {
        projectId: 'p',
        name: 'n',
        version: '1',
        content: await openAsBlob(path),
        onProgress: () => undefined,
      },
    )
    const reader = (await body.promise).getReader()
    expect((await reader.read()).value).toHaveLength(65_536)
    // A Blob of a modified file cannot be read, but data that was read in advance is still available.
    writeFileSync(path, 'changed')
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done);
    }
    await expect(rest()).rejects.toMatchObject({ name: 'NotReadableError' })
    await uploading
    rmSync(dirname(path), { recursive: true })
  })

  test('is a script or a package, as its bytes say', async () => {
    const upload = (version: string, content: Uint8Array<ArrayBuffer> | Blob) =>
      publishPilet(admin, { projectId: gateway.project.id, name: 'kinds', version, content })
    await upload('1.0.0', bundle('export {}'))
    await upload('1.0.1', Uint8Array.from(npmPack({ main: 'index.js' }, { 'index.js': 'export {}' })))
    await upload('1.0.2', new Blob(['export {}']))
    const types = await Promise.all(['1.0.0', '1.0.1', '1.0.2'].map((version) => kept('kinds', version)))
    expect(types.map((row) => row?.['content_type'])).toEqual([
      'text/javascript',
      'application/gzip',
      'text/javascript',
    ])
  })

  test('that is there already is refused with 409', async () => {
    const upload = { projectId: gateway.project.id, name: 'twice', version: '1.0.0', content: bundle('a') }
    await publishPilet(admin, upload)
    await expect(publishPilet(admin, upload)).rejects.toMatchObject({ status: 409, code: 'conflict' })
  })

  test('whose upload is aborted is not there', async () => {
    const ending = new AbortController()
    const uploading = publishPilet(admin, {
      projectId: gateway.project.id,
      name: 'aborted',
      version: '1.0.0',
      content: Uint8Array.from(randomBytes(4_000_000)),
      onProgress: () => ending.abort(new Error('enough')),
      signal: ending.signal,
    })
    await expect(uploading).rejects.toThrow('enough')
    expect(await kept('aborted', '1.0.0')).toBeUndefined()
  })
})

describe('an endpoint', () => {
  test('is called with method, query, headers and body, and its answer comes as it is', async () => {
    const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/orders` })
    gateway.upstream.answer((_request, response) =>
      response.writeHead(418, { 'x-answer': 'yes' }).end('I am'),
    )
    const consumeUrl = path.slice(`/esb/${place.applicationId}`.length)
    const response = await callEsb(machine, {
      ...place,
      path: `${consumeUrl}?page=2`,
      method: 'put',
      headers: { 'Content-Type': 'text/plain', 'X-Order': '17' },
      body: 'hello',
    })
    expect([response.status, response.headers.get('x-answer'), await response.text()]).toEqual([
      418,
      'yes',
      'I am',
    ])
    expect(gateway.upstream.received.at(-1)).toMatchObject({
      method: 'PUT',
      url: '/orders?page=2',
      headers: { 'x-order': '17', 'content-type': 'text/plain' },
      body: Buffer.from('hello'),
    })
    gateway.upstream.reset()
    expect((await callEsb(machine, { ...place, path: consumeUrl })).status).toBe(200)
    expect((await callEsb(machine, { ...place, path: consumeUrl, body: '{}' })).status).toBe(200)
    expect(gateway.upstream.received.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })

  test('that fails in passing is called again by GET, and not by POST', async () => {
    const { path } = await gateway.endpoint({ url: gateway.upstream.url })
    const consumeUrl = path.slice(`/esb/${place.applicationId}`.length)
    gateway.upstream.reset()
    gateway.upstream.answer((_request, response) =>
      response.writeHead(gateway.upstream.received.length === 2 ? 200 : 503, { 'retry-after': '0' }).end(),
    )
    expect((await callEsb(machine, { ...place, path: consumeUrl })).status).toBe(200)
    expect((await callEsb(machine, { ...place, path: consumeUrl, body: '{}' })).status).toBe(503)
    expect(gateway.upstream.received.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST'])
  })

  test('is refused by the gateway with an answer too', async () => {
    const response = await callEsb(machine, { ...place, path: '/none' })
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
    await expect(callEsb(machine, { ...place, path: 'none' })).rejects.toThrow('path must start with a slash')
  })
})

describe('a login of a command line', () => {
  test('is approved in a browser, and the sealed token comes once', async () => {
    const terminal = await openTerminal(gateway.service)
    const login = await startCliLogin(proxy, { publicKey: terminal.key, tokenName: 'laptop' })
    expect(login).toEqual({
      sessionId: expect.any(String),
      verificationUri: expect.stringContaining(`/cli/authorize?code=${login.userCode}`),
      userCode: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      interval: 5,
      expiresAt: expect.any(String),
    })
    expect(await pollCliLogin(proxy, login)).toEqual({ status: 'authorization_pending', interval: 5 })
    expect(await pollCliLogin(proxy, login)).toMatchObject({ status: 'slow_down', interval: 10 })
    expect((await decide(gateway.service, gateway.admin, login.userCode, 'approve')).status).toBe(200)
    const approved = await pollCliLogin(proxy, login)
    expect(approved).toEqual({
      status: 'approved',
      sealedToken: expect.any(String),
      tokenName: 'laptop',
      expiresAt: expect.any(String),
    })
    expect(terminal.open((approved as { sealedToken: string }).sealedToken)).toMatch(/^pat_/)
    expect(await pollCliLogin(proxy, login)).toEqual({ status: 'expired' })
  })

  test('is denied', async () => {
    const terminal = await openTerminal(gateway.service)
    const login = await startCliLogin(proxy, { publicKey: terminal.key, tokenName: 'laptop' })
    await decide(gateway.service, gateway.admin, login.userCode, 'deny')
    expect(await pollCliLogin(proxy, login)).toEqual({ status: 'denied' })
    await expect(pollCliLogin(proxy, { sessionId: 'unknown' })).rejects.toMatchObject({ status: 404 })
  })
})
