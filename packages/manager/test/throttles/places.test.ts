// Tests that rate limits exist only in the four documented areas.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../tools/openapi-frame.ts'
import { createApiDocument } from '../../tools/openapi.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { bearer, throughProxy } from '@manager/harness/credentials.ts'
import { rawCall } from '../kit/http.ts'
import { freshClient } from '../kit/machines.ts'
import { type ApiRoute, routesOf } from '../kit/routes.ts'
import { seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let person: Person
beforeAll(async () => {
  service = await startTestApp()
  person = await seedUser(service.sql, 'person')
})
afterAll(() => service.close())

/**
 * The routes that return 429. features/notifications/emit-rates.test.ts covers the notification rate of applications.
 * The credential check also counts failures, but reports them in its response, which always has status 200.
 */
const limited = [
  'ANY /esb/*',
  'DELETE /api/machine/backend/:id',
  'GET /api/machine/application/:id/tenants',
  'POST /api/cli/login/poll',
  'POST /api/machine/comms/emit',
  'POST /api/machine/comms/publish',
  'POST /api/machine/register-backend',
  'POST /api/validate-oauth-user',
  'POST /api/validate-proxy-auth',
  'PUT /api/machine/backend/:id/heartbeat',
]
const unknownAddress = 'any other address of machines'

// Exceeds every limit per minute: 30 login starts, 30 login polls, 10 codes.
const tries = 40

type Request = { path: string; type: string; body: string }
/** Builds the request for a route. It is well-formed if a limit might count requests or guesses. */
function requestOf({ name, path }: Pick<ApiRoute, 'name' | 'path'>, index: number): Request {
  const code = `BBBB-${'BCDFGHJKLMNPQRSTVWXZ'[index % 20]}BB${'BC'[Math.floor(index / 20)]}`
  const fields = { code, form_token: 'x', decision: 'deny' }
  if (name === 'POST /cli/authorize')
    return { path, type: 'application/x-www-form-urlencoded', body: new URLSearchParams(fields).toString() }
  const body = {
    authorization_header: 'Bearer nonsense',
    application_id: person.id,
    query: '{ nothing }',
    public_key: Buffer.alloc(32, 9).toString('base64'),
    token_name: 'laptop',
    session_id: 'no such session',
  }
  const query = name === 'GET /cli/authorize' ? `?code=${code}` : ''
  return { path: `${path}${query}`, type: 'application/json', body: JSON.stringify(body) }
}

/** Sends many requests from one client. Returns for each 429 whether it has a Retry-After. */
async function refusalsOf(
  route: Pick<ApiRoute, 'name' | 'method' | 'path'>,
  credential: Record<string, string>,
): Promise<boolean[]> {
  const client = freshClient()
  const answers = await Promise.all(
    Array.from({ length: tries }, (_, index) => {
      const { path, type, body } = requestOf(route, index)
      const lines = { 'content-type': type, ...throughProxy(client), ...credential }
      return rawCall(service.url, { method: route.method, path, headers: Object.entries(lines), body })
    }),
  )
  return answers
    .filter(({ status }) => status === 429)
    .map(({ headers }) => Number(headers['retry-after'] ?? 0) >= 1)
}

describe('[errors.rate-limits] 429 with Retry-After is answered in the named places and nowhere else', () => {
  test('to many requests of every route, with a wrong credential and by a signed-in person', async () => {
    const met: string[] = []
    const unknown = { name: unknownAddress, method: 'GET', path: '/api/machine/x' }
    for (const route of [...routesOf(service), unknown]) {
      const refused = [
        ...(await refusalsOf(route, bearer('nonsense'))),
        ...(await refusalsOf(route, headersOf(person))),
      ]
      expect(refused.every((saysWhen) => saysWhen)).toBe(true)
      if (refused.length > 0) met.push(route.name)
    }
    expect(met.toSorted()).toEqual([...limited, unknownAddress].toSorted())
  })

  test('by the API document, which every answer of every test is compared with', () => {
    const { document } = createApiDocument(service.app.routes)
    const declared = Object.entries(document['paths'] as Record<string, Record<string, Json>>).flatMap(
      ([path, item]) =>
        Object.entries(item)
          .filter(([, operation]) => '429' in ((operation['responses'] as Json | undefined) ?? {}))
          .map(([method]) => `${method.toUpperCase()} ${path}`),
    )
    const documented = limited
      .filter((name) => !name.startsWith('ANY'))
      .map((name) => name.replace(/:(\w+)/g, '{$1}'))
    const isGateway = (name: string): boolean => name.includes(' /esb/')
    expect(declared.filter((name) => !isGateway(name)).toSorted()).toEqual(documented.toSorted())
    expect(declared.some(isGateway)).toBe(true)
  })
})
