// Tests that the API document is correct. The comparison in kit/response-comparison.ts checks every response
// of every test app against it. These tests plant wrong responses that the comparison must find.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError, errorCodes } from '../src/platform/errors.ts'
import type { ApiServer } from '../src/platform/http/declarations.ts'
import { createHealthServer } from '../src/platform/http/health-server.ts'
import type { Json } from '../tools/openapi-frame.ts'
import { createApiDocument } from '../tools/openapi.ts'
import { createComparison } from './kit/response-comparison.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { rawCall } from './kit/http.ts'
import { openRaw } from './kit/raw-socket.ts'

const root = new URL('../../../', import.meta.url).pathname
const documentFile = `${root}docs/api/openapi.json`
const document = JSON.parse(readFileSync(documentFile, 'utf8')) as Json & {
  paths: Record<string, Record<string, Json & { security: Json[] }>>
}
/** GET routes that reject a body, like the POST routes with the same path. */
const polled = new Set(['/api/proxy/ready', '/api/proxy/deployment'])
const id = '01a1dd79-fdac-7340-8cd1-55a8056ca626'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

/** Starts a service that returns one kind of wrong response, calls it once, and stops it. */
async function closeAfterAnswer(extend: (server: ApiServer) => void, path = '/health'): Promise<void> {
  const wrong = await startTestApp({ database: service.database, transport: { extend } })
  await rawCall(wrong.url, { path, headers: [['x-proxy-auth', proxySecret]] })
  await wrong.close()
}

const planted: [string, (server: ApiServer) => void, RegExp][] = [
  [
    'a property that is not declared',
    (server) => server.addHook('preSerialization', async (_r, _p, body: object) => ({ ...body, more: 1 })),
    /GET \/health 200: body\/more is not declared/,
  ],
  [
    'a property that is missing',
    (server) => server.addHook('preSerialization', async () => ({})),
    /GET \/health 200: body.*must have required properties/,
  ],
  [
    'a value of another type, deep inside',
    (server) =>
      server.addHook('preSerialization', async (_r, _p, body: { checks: object }) => ({
        ...body,
        checks: { ...body.checks, redis: 'maybe' },
      })),
    /GET \/health 200: body\/checks\/redis/,
  ],
  [
    'another status',
    (server) => server.addHook('onSend', async (_request, reply, body) => (void reply.code(418), body)),
    /GET \/health 418: is not declared/,
  ],
  [
    'another content type',
    (server) => server.addHook('onSend', async (_r, reply, body) => (void reply.type('text/plain'), body)),
    /GET \/health 200: content type text\/plain.* is not application\/json/,
  ],
  [
    'a header that is missing',
    (server) =>
      server.addHook('onSend', async (_r, reply, body) => (void reply.removeHeader('x-request-id'), body)),
    /GET \/health 200: header X-Request-Id is missing/,
  ],
  ['no body', (server) => server.addHook('onSend', async () => ''), /GET \/health 200: has no body/],
]

type Operation = { method: string; path: string; status: string; mayHaveBody: boolean }
const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody, responses }]) =>
    Object.keys((responses ?? {}) as Json).map((status) => ({
      method,
      path,
      status,
      mayHaveBody: requestBody !== undefined || !['get', 'head'].includes(method),
    })),
  ),
)

describe('statuses', () => {
  // The comparison below ensures that every response has a declared status. Statuses of ESB upstreams and the
  // WebSocket upgrade do not count as responses of the Manager.
  test('[errors.statuses] no route answers with any but these, and six of them only where they are stated', () => {
    const own = operations.filter(({ status }) => !['default', '101'].includes(status))
    const usual = '200 201 202 400 401 403 404 409 410 429 500 502 503'.split(' ')
    const stated = ['204', '304', '412', '413', '415', '422']
    expect([...new Set(own.map(({ status }) => status))].toSorted()).toEqual([...usual, ...stated].toSorted())
    for (const code of errorCodes)
      expect([...usual, ...stated]).toContain(String(new AppError(code, 'x').status))
    const unstated = own.filter(({ method, path, status, mayHaveBody }) =>
      status === '304'
        ? !['get', 'head'].includes(method)
        : status === '422'
          ? path !== '/api/machine/comms/emit'
          : ['204', '412'].includes(status)
            ? !path.startsWith('/scim/v2/')
            : ['413', '415'].includes(status) &&
              !mayHaveBody &&
              !path.startsWith('/esb/') &&
              !polled.has(path),
    )
    expect(unstated).toEqual([])
  })
})

describe('the comparison of answers with the document', () => {
  test.each(planted)('finds %s', async (_name, extend, message) => {
    await expect(closeAfterAnswer(extend)).rejects.toThrow(message)
  })

  test('finds a wrong answer where no route is', async () => {
    const extend = (server: ApiServer) => server.addHook('preSerialization', async () => ({ error: 'none' }))
    await expect(closeAfterAnswer((server) => void extend(server), '/nowhere')).rejects.toThrow(
      /GET \(no route\) 404: body.*must have required properties/,
    )
  })

  test('finds nothing in right answers', async () => {
    for (const path of ['/health', '/nowhere'])
      await expect(closeAfterAnswer(() => undefined, path)).resolves.toBeUndefined()
  })
})

describe('the document', () => {
  test('holds every route of the service; one that declares nothing is named', async () => {
    expect(createApiDocument(service.app.routes).undeclaredRoutes).toEqual([])
    const extend = (server: ApiServer): void => {
      server.get('/api/undeclared', { config: { policy: { open: 'a test' } } }, () => 'nothing is said')
    }
    const extended = await startTestApp({ database: service.database, transport: { extend } })
    expect(createApiDocument(extended.app.routes).undeclaredRoutes).toEqual([
      'GET /api/undeclared',
      'HEAD /api/undeclared',
    ])
    await extended.close()
  })

  test('names a credential exactly where an anonymous caller is refused', async () => {
    const operations = Object.entries(document.paths).flatMap(([path, { servers, ...item }]) =>
      servers === undefined
        ? Object.entries(item).map(([method, { security }]) => ({ path, method, security }))
        : [],
    )
    expect(operations.length).toBeGreaterThan(10)
    for (const { path, method, security } of operations.filter(({ path }) => path !== '/gql')) {
      const { status } = await rawCall(service.url, {
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, id),
      })
      const isNeeded = security.length > 0 && security.every((one) => Object.keys(one).length > 0)
      expect([method, path, status === 401]).toEqual([method, path, isNeeded])
    }
  })

  test('describes the health port', async () => {
    const health: Server = createHealthServer(service.app.readiness, service.world.metrics)
    await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(health.address() as AddressInfo).port}`
    const compare = createComparison(document)
    for (const path of ['/healthz', '/readyz', '/metrics'])
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, body } = await rawCall(url, { method, path })
        expect([status, ...compare({ method, path, status, headers, body })]).toEqual([200])
        expect(compare({ method, path, status: 204, headers, body })).toEqual([
          `${method} ${path} 204: is not declared`,
        ])
      }
    const raw = await openRaw(url)
    raw.send('nonsense\r\n\r\n')
    await raw.waitUntil(() => raw.ended() !== null)
    expect(raw.received().toString()).toMatch(/^HTTP\/1\.1 400 [^\r]*\r\nConnection: close\r\n\r\n$/)
    health.close()
    health.closeAllConnections()
  })

  test('passes its linter, which fails on what is wrong in it', () => {
    const dir = mkdtempSync(`${tmpdir()}/manager-openapi-`)
    const lint = (changed: Json): boolean => {
      writeFileSync(`${dir}/openapi.json`, JSON.stringify(changed))
      const args = ['lint', `${dir}/openapi.json`, '--config', `${root}redocly.yaml`]
      const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
      try {
        execFileSync(`${root}node_modules/.bin/redocly`, args, { stdio: 'ignore', env })
        return true
      } catch {
        return false
      }
    }
    expect(lint(document)).toBe(true)
    const { summary: _, ...get }: Json = document.paths['/health']?.['get'] ?? {}
    expect(lint({ ...document, paths: { ...document.paths, '/health': { get } } })).toBe(false)
    rmSync(dir, { recursive: true, force: true })
  })
})

describe('schemas', () => {
  test('of responses leave the bytes as they are', async () => {
    const schema = { response: { 200: Type.Object({ b: Type.String() }) } }
    const answer = { b: 1, more: { z: 1, a: [2] } } as unknown as { b: string }
    const extend = (server: ApiServer): void => {
      server.get('/api/bytes', { config: { policy: { open: 'a test' } }, schema }, () => answer)
    }
    const extended = await startTestApp({ database: service.database, transport: { extend } })
    const { body } = await rawCall(extended.url, { path: '/api/bytes' })
    expect(body).toBe(JSON.stringify(answer))
    await extended.close()
  })

  const post = async (headers: [string, string][], body?: string) => {
    const all: [string, string][] = [['x-proxy-auth', proxySecret], ...headers]
    const call = { method: 'POST', path: '/api/validate-proxy-auth', headers: all }
    const answer = await rawCall(service.url, body === undefined ? call : { ...call, body })
    const { code, message } = JSON.parse(answer.body) as { code: string; message: string }
    return [answer.status, code, message]
  }
  const wrong = JSON.stringify({ authorization_header: 'Bearer x', application_id: 'no UUID' })

  test('of bodies hold whatever the Content-Type', async () => {
    const refused = [400, 'bad_request', 'application_id must be a UUID']
    for (const type of ['application/json', 'APPLICATION/JSON', 'application/json; charset="utf-8"'])
      expect([type, ...(await post([['content-type', type]], wrong))]).toEqual([type, ...refused])
    for (const type of [
      'text/plain',
      'application/json;x=y',
      'application/problem+json',
      'multipart/form-data',
    ])
      expect([type, ...(await post([['content-type', type]], wrong))].slice(0, 3)).toEqual([
        type,
        415,
        'unsupported_media_type',
      ])
    expect((await post([], wrong)).slice(0, 2)).toEqual([415, 'unsupported_media_type'])
    expect((await post([])).slice(0, 2)).toEqual([415, 'unsupported_media_type'])
    expect(await post([], '')).toEqual([400, 'bad_request', 'send a JSON object'])
  })

  test.each([
    ['authorization_header is required', {}],
    ['authorization_header is required', { authorization_header: null }],
    ['authorization_header is required', { authorization_header: ' \t' }],
    ['authorization_header must be a string', { authorization_header: 1, application_id: 1 }],
    ['authorization_header must have at most 8192 characters', { authorization_header: 'x'.repeat(8_193) }],
    ['application_id must be a UUID', { authorization_header: 'x' }],
    ['application_id must be a UUID', { authorization_header: 'x', application_id: `urn:uuid:${id}` }],
    ['application_id must be a UUID', { authorization_header: 'x', application_id: `${id}\n` }],
    ['send a JSON object', []],
    ['send a JSON object', 'text'],
    ['send a JSON object', null],
  ])('of bodies say: %s', async (message, body) => {
    const answer = await post([['content-type', 'application/json']], JSON.stringify(body))
    expect(answer).toEqual([400, 'bad_request', message])
  })
})
