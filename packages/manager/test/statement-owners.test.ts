// Tests which owner is charged for the waiting statements of a request.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { bearer } from '@manager/harness/credentials.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { getCurrentOwner, serviceOwner as background } from '../src/platform/postgres/owner.ts'
import { type TestApp, startTestApp } from './kit/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp({
    transport: {
      extend: (server) => {
        const answer = () => ({ owner: getCurrentOwner() })
        server.get('/api/try/open', { config: { policy: { open: 'a test' } } }, answer)
        server.get('/api/try/user', { config: { policy: { user: 'a test' } } }, answer)
      },
    },
  })
})
afterAll(() => service.close())

const ownerOf = async (path: string, headers: Record<string, string>): Promise<string> => {
  const response = await fetch(`${service.url}/api/try/${path}`, { headers })
  return ((await response.json()) as { owner: string }).owner
}

test('a request on an open route counts for the network of its client, whatever its headers say', async () => {
  const owners = [await ownerOf('open', {}), await ownerOf('open', bearer('someone'))]
  expect(owners).toEqual(['127.0.0.1', '127.0.0.1'])
})

test('a request of a person counts for the person', async () => {
  const person = await seedUser(service.sql, 'person')
  expect(await ownerOf('user', headersOf(person))).toBe(person.id)
})

test('statements outside of requests count for the service', () => {
  expect(getCurrentOwner()).toBe(background)
})
