// Tests `svc doctor`: each check, what it finds, and what it advises.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createToken } from '@manager/harness/credentials.ts'
import { expect, onTestFinished, test } from 'vitest'
import type { Check } from '../src/doctor/check.ts'
import { checkClock } from '../src/doctor/network-checks.ts'
import { svcAt, useSvc } from './kit/svc.ts'

const { service, admin, env, folder, svc } = useSvc()

async function runDoctor(given: Record<string, string>, args: readonly string[] = []) {
  const ended = await svcAt(folder.path, ['doctor', '--json', ...args], { env: given })
  const checks = JSON.parse(ended.out) as Check[]
  return { ...ended, checks, of: (name: string) => checks.find(({ check }) => check === name) }
}

/** Starts a server that sends the same response to each request. */
async function startServer(status: number, headers: Record<string, string> = {}, body = ''): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, headers).end(body)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Returns an address that no server listens on. */
async function findClosedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

test('everything in order', async () => {
  const { code, checks, of } = await runDoctor(env, ['-p', 'main'])
  expect(checks.map(({ check }) => check)).toEqual([
    'address',
    'network proxy',
    'connection',
    'clock',
    'token',
    'expiry',
    'permissions',
  ])
  expect([code, checks.filter(({ status }) => status !== 'ok')]).toEqual([0, []])
  expect(of('address')?.result).toBe(`${env['SVC_URL']} (SVC_URL)`)
  expect(of('token')?.result).toBe('accepted; you are admin@example.com, administrator')
  expect(of('permissions')?.result).toMatch(/in project main, \d+ permissions$/)
  expect((await svc(['doctor'])).out).toMatch(/^CHECK +STATUS +RESULT\naddress +ok +http/)
})

test('a missing address or sign-in fails the first check, and skips the others', async () => {
  const { code, err, checks } = await runDoctor({})
  expect([code, err]).toEqual([1, 'svc: 1 check failed.\n'])
  expect(checks[0]).toMatchObject({ status: 'failed', hint: 'Sign in with: svc login --url <address>' })
  expect(checks.slice(2).every(({ status }) => status === 'skipped')).toBe(true)
  const plain = await runDoctor({ SVC_URL: 'http://manager.example.com' })
  expect(plain.of('address')).toMatchObject({ status: 'failed', hint: expect.stringContaining('https://') })
})

test('an address without a server, and the address of the Manager itself', async () => {
  const refused = await runDoctor({ ...env, SVC_URL: await findClosedPort() })
  expect(refused.of('connection')).toMatchObject({
    status: 'failed',
    hint: 'Check the port in the address, and whether the proxy runs.',
  })
  expect(refused.of('token')?.status).toBe('skipped')
  const direct = await runDoctor({ ...env, SVC_URL: service.url })
  expect(direct.of('token')).toMatchObject({
    status: 'failed',
    hint: 'This is the address of the Manager. Use the address of its proxy.',
  })
})

test('a proxy that asks for a sign-in, does not reach the Manager, or is another server', async () => {
  const redirect = await runDoctor({
    ...env,
    SVC_URL: await startServer(302, { location: 'https://a.example/' }),
  })
  expect(redirect.of('token')?.hint).toContain('The proxy asks for a sign-in.')
  const unreachable = await runDoctor({ ...env, SVC_URL: await startServer(502) })
  expect(unreachable.of('connection')?.hint).toBe('The proxy does not reach the Manager. Tell the operator.')
  const page = await startServer(200, { 'content-type': 'text/html' }, '<h1>Hello</h1>')
  expect((await runDoctor({ ...env, SVC_URL: page })).of('token')?.hint).toContain('is not the Manager')
})

test('the clock is compared with the Date header', async () => {
  const localMs = Date.UTC(2026, 10, 20, 12)
  const check = (offsetMs: number) => checkClock(new Date(localMs + offsetMs).toUTCString(), localMs)
  expect(check(0).status).toBe('ok')
  expect(check(-55_000).status).toBe('ok')
  expect(check(-600_000)).toMatchObject({ status: 'failed', result: '10 min ahead of the server' })
  expect(check(3_600_000)).toMatchObject({ status: 'failed', result: '60 min behind the server' })
  expect(checkClock(null, localMs).status).toBe('skipped')
  const date = new Date(Date.now() - 7_200_000).toUTCString()
  const { of } = await runDoctor({ ...env, SVC_URL: await startServer(404, { date }) })
  expect(of('clock')?.result).toBe('120 min ahead of the server')
})

test('a rejected token, a token that expires soon, and a project that does not exist', async () => {
  const wrong = await runDoctor({ ...env, SVC_TOKEN: 'pat_aaaaaaaa_b' })
  expect(wrong.of('token')).toMatchObject({
    status: 'failed',
    hint: 'Sign in again: svc login --url <address>',
  })
  expect(wrong.out).not.toContain('pat_aaaaaaaa')
  const expiresAt = new Date(Date.now() + 2 * 86_400_000).toISOString()
  const { token } = await createToken(service, admin, { name: 'short', expiresAt })
  const soon = await runDoctor({ ...env, SVC_TOKEN: token })
  expect([soon.code, soon.of('expiry')]).toMatchObject([
    0,
    { status: 'warning', hint: 'To get a new token, run: svc login' },
  ])
  const missing = await runDoctor(env, ['-p', 'no-such-project'])
  expect(missing.of('permissions')).toMatchObject({
    status: 'failed',
    hint: expect.stringContaining('projects list'),
  })
})

test('a network proxy that Node does not use is a warning', async () => {
  const proxied = { ...env, HTTPS_PROXY: 'http://proxy.example.com:3128' }
  expect((await runDoctor(proxied)).of('network proxy')).toMatchObject({
    status: 'warning',
    hint: 'If you need the proxy, run: export NODE_USE_ENV_PROXY=1',
  })
  expect((await runDoctor({ ...proxied, NODE_USE_ENV_PROXY: '1' })).of('network proxy')?.status).toBe('ok')
  const { code, err } = await svc(['doctor'], { env: proxied })
  expect([code, err]).toEqual([0, 'network proxy: If you need the proxy, run: export NODE_USE_ENV_PROXY=1\n'])
})
