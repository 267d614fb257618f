// Tests the limits for a client that guesses Basic passwords.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { basicValue, call, throughProxy, validate } from '@manager/harness/credentials.ts'
import { type SeededProject, seedBasicUser, seedProject } from '@manager/harness/seed.ts'

let service: TestApp
let target: SeededProject
let own: SeededProject

beforeAll(async () => {
  service = await startTestApp()
  target = await seedProject(service.sql, 'target')
  own = await seedProject(service.sql, 'own')
})
afterAll(() => service.close())

const ask = (client: string, project: SeededProject, username: string, password: string) =>
  validate(service.url, basicValue(username, password), project.applicationId, client)

describe('a guesser of Basic passwords', () => {
  test('[proxy-auth.lockout-basic] cannot clear their count with a user of the same name in a project of their own', async () => {
    const client = '203.0.113.21'
    await seedBasicUser(service.sql, target, 'svc')
    const mine = await seedBasicUser(service.sql, own, 'SVC')
    const seen: number[] = []
    for (let i = 0; i < 8; i++) {
      expect((await ask(client, own, mine.username, mine.password)).status).toBe(200)
      seen.push((await ask(client, target, 'svc', `guess ${i}`)).status)
    }
    expect(seen).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  })

  test('[proxy-auth.lockout] gets no more tries by sending many names at once', async () => {
    const client = '203.0.113.22'
    const runs = async () => (await service.world.metrics.authKdfRuns.get()).values[0]?.value ?? 0
    const before = await runs()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => ask(client, target, `name${i}`, 'password')),
    )
    expect((await runs()) - before).toBeLessThanOrEqual(10)
    expect(new Set(answers.map(({ status }) => status))).not.toContain(200)
    for (const { status, headers } of answers.filter(({ status }) => status !== 401))
      expect([status, Number(headers.get('retry-after')) >= 1]).toEqual([status, true])
  })

  test('cannot tell names that exist from others by what is read for them', async () => {
    await seedBasicUser(service.sql, target, 'existing')
    const readFor = async (username: string, client: string): Promise<string[]> => {
      service.statements.length = 0
      expect((await ask(client, target, username, 'wrong')).status).toBe(401)
      return [...service.statements]
    }
    expect(await readFor('existing', '203.0.113.23')).toEqual(await readFor('nobody', '203.0.113.24'))
  })
})

describe('a process without the role api', () => {
  test('serves none of the routes of the proxy', async () => {
    const jobs = await startTestApp({ env: { SVC_ROLES: 'jobs' } })
    for (const path of ['/api/validate-proxy-auth', '/api/validate-oauth-user', '/query'])
      expect((await call(jobs.url, path, throughProxy(), {})).status).toBe(404)
    await jobs.close()
  })
})
