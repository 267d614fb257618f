// Tests personal access tokens on all routes. With the proxy secret, a token acts as its owner; without the secret, it
// is rejected.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { bearer, createToken, throughProxy } from '@manager/harness/credentials.ts'
import { rawCall } from '../kit/http.ts'
import { type ApiRoute, gatedRoutes } from '../kit/routes.ts'
import { seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let owner: Person
let token: string
beforeAll(async () => {
  service = await startTestApp()
  owner = await seedUser(service.sql, 'owner')
  ;({ token } = await createToken(service, owner))
})
afterAll(() => service.close())

type Answer = { status: number; body: unknown }
async function send(name: string, headers: Record<string, string>, body = '{}'): Promise<Answer> {
  const { method, path } = gatedRoutes(service).find((route) => route.name === name) as ApiRoute
  const lines = Object.entries({ 'content-type': 'application/json', ...headers })
  const answer = await rawCall(service.url, { method, path, headers: lines, body })
  const isPage = String(answer.headers['content-type']).startsWith('text/html')
  return { status: answer.status, body: isPage ? { page: answer.body } : JSON.parse(answer.body) }
}

// The owner is authenticated but not a member of the project in the URL.
const toStranger = {
  body: '',
  status: 403,
  answers: () => ({ error: expect.stringContaining('not permitted: requires project role') as unknown }),
}

// The owner is not an administrator.
const toUser = {
  body: '',
  status: 403,
  answers: () => ({ error: expect.stringContaining('system role administrator') as unknown }),
}

const toConsole = {
  body: '',
  status: 404,
  answers: () => ({ page: expect.stringContaining('The console is not built') as unknown }),
}

/** For each route that needs a user: a call, and the response that only the token owner gets. */
const asOwner: Record<string, { body: string; status: number; answers: () => object }> = {
  'POST /query': {
    body: '{"query":"{ me { id } }"}',
    status: 200,
    answers: () => ({ data: { me: { id: owner.id } } }),
  },
  // Without a code, the page asks for one. A POST must be a form.
  'GET /cli/authorize': {
    body: '',
    status: 200,
    answers: () => ({ page: expect.stringContaining('Your terminal shows a code') as unknown }),
  },
  'POST /cli/authorize': {
    body: '',
    status: 415,
    answers: () => ({ page: expect.stringContaining('Request id') as unknown }),
  },
  'GET /api/audit/export': toUser,
  'GET /api/audit/evidence': toUser,
  'GET /api/audit/evidence/:name': toUser,
  'GET /api/access/review': toUser,
  'POST /api/access/review': {
    body: '',
    status: 403,
    answers: () => ({ page: expect.stringContaining('system role administrator') as unknown }),
  },
  'POST /api/access/review/attest': toUser,
  // The test service has no built console.
  'GET /console': toConsole,
  'GET /console/*': toConsole,
  'GET /pilets/:projectId': toStranger,
  'POST /pilets/:projectId/:name/:version': toStranger,
  'GET /pilets/:projectId/:name/:version': toStranger,
  'DELETE /pilets/:projectId/:name/:version': toStranger,
}

describe('personal access tokens', () => {
  test('[access-tokens.routes] on every route that needs a user they act as their owner, and a bad one as nobody', async () => {
    const names = gatedRoutes(service).flatMap(({ name, needsUser }) => (needsUser ? [name] : []))
    // Every new route needs an entry in `asOwner`.
    expect(names.toSorted()).toEqual(Object.keys(asOwner).toSorted())
    for (const name of names) {
      const { body, status, answers } = asOwner[name] as (typeof asOwner)[string]
      const good = await send(name, { ...throughProxy(), ...bearer(token) }, body)
      expect([name, good]).toMatchObject([name, { status, body: answers() }])
      const bad = await send(name, { ...throughProxy(), ...bearer(`${token.slice(0, -1)}~`) }, body)
      expect(bad).toMatchObject({
        status: 401,
        body: { error: expect.stringMatching(/^invalid personal access token/) },
      })
    }
  })

  test('[access-tokens.direct] on every gated route, without the proxy secret, they are refused unexamined', async () => {
    service.statements.length = 0
    const routes = gatedRoutes(service)
    expect(routes.length).toBeGreaterThan(3)
    for (const { name } of routes)
      for (const secret of [null, '', 'wrong', `${proxySecret}x`]) {
        const gate: Record<string, string> = secret === null ? {} : { 'x-proxy-auth': secret }
        expect([name, await send(name, { ...gate, ...bearer(token) })]).toMatchObject([
          name,
          {
            status: 401,
            body: { error: expect.stringMatching(/the request did not come through the trusted proxy/) },
          },
        ])
      }
    expect(service.statements).toEqual([])
  })
})
