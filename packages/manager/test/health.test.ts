// Tests the health routes on both ports, with PostgreSQL and Redis servers that this file starts and stops.
import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Postgres, freePort } from '@manager/harness/engines/postgres.ts'
import { type RedisServer, startRedis } from '@manager/harness/engines/redis.ts'
import type { TestApp } from './kit/app.ts'
import { get, startWithDedicatedEngines, proxyHeaders } from './kit/dedicated-engines.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'

let postgres: Postgres
let redis: RedisServer
let service: TestApp
let healthUrl: string
let close: (running: RedisServer) => Promise<void>
const processes: ServiceProcess[] = []

beforeAll(async () => {
  ;({ postgres, redis, service, healthUrl, close } = await startWithDedicatedEngines())
})
afterAll(async () => {
  for (const { child, exit } of processes) {
    child.kill('SIGKILL')
    await exit
  }
  await close(redis)
})

const full = (status: string, degraded: string[] = []) => ({
  status,
  checks: {
    database: status === 'unavailable' ? 'unreachable' : 'ok',
    redis: degraded.length > 0 ? 'unreachable' : 'ok',
  },
  degraded,
  version: expect.any(String) as unknown,
})

const metrics = async (): Promise<string[]> =>
  (await (await fetch(`${healthUrl}/metrics`)).text()).split('\n')

/** Polls until the response has the status. */
async function until(
  status: number,
  url: string,
  isRight = (_body: Record<string, unknown>) => true,
): Promise<void> {
  const look = async () => {
    const answer = await get(url, proxyHeaders)
    return [answer.status, isRight(answer.body)]
  }
  await expect.poll(look).toEqual([status, true])
}

describe('health', () => {
  test('[health.port-default] a process that is told no ports listens on 8081 for health, beside the API on 8080', async () => {
    // Use random loopback addresses, on which no other process uses these ports.
    const [host = '', other = ''] = [1, 2].map((last) => `127.81.${randomInt(256)}.${last}`)
    const unset = { SVC_PORT: undefined, SVC_HEALTH_PORT: undefined, SVC_REDIS_URL: redis.url }
    processes.push(await startProcess(postgres.url, { ...unset, SVC_HOST: host, SVC_HEALTH_HOST: host }))
    expect(await get(`http://${host}:8081/healthz`)).toMatchObject({
      status: 200,
      body: { status: 'healthy' },
    })
    expect((await fetch(`http://${host}:8081/health`)).status).toBe(404)
    expect(await get(`http://${host}:8080/health`)).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect((await fetch(`http://${host}:8080/healthz`)).status).toBe(401)
    const configured = { SVC_HOST: other, SVC_HEALTH_HOST: other, SVC_HEALTH_PORT: String(await freePort()) }
    processes.push(await startProcess(postgres.url, { ...unset, ...configured }))
    expect((await get(`http://${other}:${configured.SVC_HEALTH_PORT}/healthz`)).status).toBe(200)
    await expect(fetch(`http://${other}:8081/healthz`)).rejects.toThrow('fetch failed')
  })

  test('[health.healthz] [health.readyz] the health port answers without a credential', async () => {
    await until(200, `${healthUrl}/readyz`, (body) => (body['degraded'] as string[]).length === 0)
    expect(await get(`${healthUrl}/healthz`)).toMatchObject({ status: 200, body: { status: 'healthy' } })
    expect(await get(`${healthUrl}/readyz`)).toMatchObject({ status: 200, body: full('ready') })
    expect((await fetch(`${healthUrl}/metrics`)).status).toBe(200)
    expect((await fetch(`${healthUrl}/query`, { method: 'POST' })).status).toBe(404)
  })

  test('[health.api-anonymous] [health.api-full-body] two levels of detail on the API port', async () => {
    expect(await get(`${service.url}/health`)).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(Object.keys((await get(`${service.url}/health`)).body)).toEqual(['status'])
    expect(await get(`${service.url}/health`, proxyHeaders)).toMatchObject({
      status: 200,
      body: full('ready'),
    })
  })

  test('[health.api-wrong-secret] a wrong secret is answered as if none was given', async () => {
    const wrong = await get(`${service.url}/health`, { 'x-proxy-auth': 'wrong' })
    expect(wrong).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(Object.keys(wrong.body)).toEqual(['status'])
  })

  test('[health.api-head] HEAD answers the status with an empty body', async () => {
    for (const headers of [{}, proxyHeaders] as Record<string, string>[]) {
      const response = await fetch(`${service.url}/health`, { method: 'HEAD', headers })
      expect([response.status, await response.text()]).toEqual([200, ''])
    }
  })

  test('[health.database-down] [health.healthz-without-database] PostgreSQL stops and comes back', async () => {
    postgres.stop('immediate')
    await Promise.all([until(503, `${healthUrl}/readyz`), until(503, `${service.url}/health`)])
    expect(await get(`${healthUrl}/readyz`)).toMatchObject({ status: 503, body: full('unavailable') })
    expect(await get(`${service.url}/health`)).toMatchObject({ status: 503, body: { status: 'unavailable' } })
    const head = await fetch(`${service.url}/health`, { method: 'HEAD' })
    expect([head.status, head.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await get(`${healthUrl}/healthz`)).status).toBe(200)
    const query = await service.query({ id: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de' }, '{ me { id } }')
    expect([query.status, query.headers.get('retry-after')]).toEqual([503, '1'])
    expect(query.error).toContain('the database is not responding')
    expect(await metrics()).toContain('svc_db_writable 0')

    postgres.start()
    await Promise.all([until(200, `${healthUrl}/readyz`), until(200, `${service.url}/health`)])
    expect(await metrics()).toContain('svc_db_writable 1')
    const again = await service.query({ id: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de' }, '{ me { id } }')
    expect(again.status).toBe(200)
  })

  test('[health.redis-degraded] Redis stops: ready stays 200 and the full body says so', async () => {
    await redis.stop()
    await until(200, `${healthUrl}/readyz`, (body) => (body['degraded'] as string[]).includes('redis'))
    expect(await get(`${service.url}/health`, proxyHeaders)).toMatchObject({
      status: 200,
      body: full('ready', ['redis']),
    })
    expect(await get(`${service.url}/health`)).toMatchObject({ status: 200, body: { status: 'ok' } })
    redis = await startRedis(redis.port)
    await until(200, `${healthUrl}/readyz`, (body) => (body['degraded'] as string[]).length === 0)
  })
})
