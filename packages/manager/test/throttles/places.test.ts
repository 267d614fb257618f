// Where callers are limited at all: in the places the interface names, and in no other.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, headersOf, startTestApp } from '../kit/app.ts'
import { bearer, throughProxy } from '../kit/credentials.ts'
import { rawCall } from '../kit/http.ts'
import { freshClient } from '../kit/machines.ts'
import { type ApiRoute, routesOf } from '../kit/routes.ts'
import { seedUser } from '../kit/seed.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

/**
 * The routes whose failures are counted; the CLI's poll joins them when it is built. How often an application may notify is
 * in features/comms/emit-rates.test.ts. The check of a credential counts too, but says so in its answer, which is always 200.
 */
const limited = [
  'ANY /esb/*',
  'DELETE /api/machine/backend/:id',
  'GET /api/machine/application/:id/tenants',
  'POST /api/machine/comms/emit',
  'POST /api/machine/comms/publish',
  'POST /api/machine/register-backend',
  'POST /api/validate-proxy-auth',
  'PUT /api/machine/backend/:id/heartbeat',
  'any other address of machines',
]

test('[errors.rate-limits] repeated failures meet 429 with Retry-After in the named places and nowhere else', async () => {
  const person = await seedUser(service.sql, 'person')
  const body = JSON.stringify({
    authorization_header: 'Bearer nonsense',
    application_id: person.id,
    query: '{ nothing }',
  })
  const failOn = async ({
    method,
    path,
  }: Pick<ApiRoute, 'method' | 'path'>): Promise<[status: number, saysWhen: boolean][]> => {
    const answers: [number, boolean][] = []
    const client = freshClient()
    for (let tries = 0; tries < 25; tries++) {
      const credential = path === '/query' ? headersOf(person) : bearer('nonsense')
      const lines = { 'content-type': 'application/json', ...throughProxy(client), ...credential }
      const answer = await rawCall(service.url, { method, path, headers: Object.entries(lines), body })
      answers.push([answer.status, Number(answer.headers['retry-after'] ?? 0) >= 1])
    }
    return answers.filter(([status]) => status === 429)
  }
  const met: string[] = []
  const unknown = { name: 'any other address of machines', method: 'GET', path: '/api/machine/x' }
  for (const route of [...routesOf(service), unknown]) {
    const refused = await failOn(route)
    expect(refused.every(([, saysWhen]) => saysWhen)).toBe(true)
    if (refused.length > 0) met.push(route.name)
  }
  expect(met.toSorted()).toEqual(limited)
})
