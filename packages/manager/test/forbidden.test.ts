// Tests that authenticated callers without permission get 403 on every REST route that can return it.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { callbackUrl, register } from '@manager/harness/backends.ts'
import { targetFields } from './kit/comms.ts'
import { bearer } from '@manager/harness/credentials.ts'
import { seedEndpoint } from './kit/endpoints.ts'
import { rawCall } from './kit/http.ts'
import { piletPath } from '@manager/harness/pilets.ts'
import { seedPilet } from './kit/seeded-pilets.ts'
import { useProject } from './kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, project, other, person, member } = useProject({ withOther: true })

type Headers = Record<string, string>
type Call = { path: string; headers: Headers; body?: unknown }
let stranger: Person
let reader: Person
let [token, backendId, endpointId] = ['', '', '']

beforeAll(async () => {
  stranger = await person('stranger')
  reader = await member('reader', 'readonly')
  ;({ token } = await seedMachineUser(service.sql, project))
  const colleague = await seedMachineUser(service.sql, project)
  const registered = await register(service, colleague.token, {
    application_id: project.applicationId,
    callback_url: callbackUrl,
  })
  backendId = registered.body.registered_id as string
  endpointId = await seedEndpoint(service.sql, project)
  await seedPilet(service.sql, project, { name: 'cart' })
})

/** For each route: a call by an authenticated caller to an existing object that the caller may not access. */
const calls: Record<string, () => Call> = {
  'ANY /esb/*': () => ({
    path: `/esb/${project.applicationId}/${endpointId}`,
    headers: bearer(token),
    body: {},
  }),
  'PUT /api/machine/backend/:id/heartbeat': () => ({
    path: `/api/machine/backend/${backendId}/heartbeat`,
    headers: bearer(token),
  }),
  'DELETE /api/machine/backend/:id': () => ({
    path: `/api/machine/backend/${backendId}`,
    headers: bearer(token),
  }),
  'POST /api/machine/comms/emit': () => ({
    path: '/api/machine/comms/emit',
    headers: bearer(token),
    body: { ...targetFields(project), tenant_id: other.tenantId, title: 'x' },
  }),
  'POST /api/machine/comms/publish': () => ({
    path: '/api/machine/comms/publish',
    headers: bearer(token),
    body: { ...targetFields(project), tenant_id: other.tenantId, data: {} },
  }),
  'GET /api/audit/export': () => ({ path: '/api/audit/export', headers: headersOf(stranger) }),
  'GET /api/audit/evidence': () => ({ path: '/api/audit/evidence', headers: headersOf(stranger) }),
  'GET /api/audit/evidence/:name': () => ({ path: '/api/audit/evidence/x', headers: headersOf(stranger) }),
  'GET /api/access/review': () => ({ path: '/api/access/review', headers: headersOf(stranger) }),
  'POST /api/access/review/attest': () => ({
    path: '/api/access/review/attest',
    headers: headersOf(stranger),
    body: {},
  }),
  'POST /pilets/:projectId/:name/:version': () => ({
    path: piletPath({ projectId: project.id, name: 'cart', version: '2.0.0' }),
    headers: headersOf(reader),
    body: {},
  }),
  'DELETE /pilets/:projectId/:name/:version': () => ({
    path: piletPath({ projectId: project.id, name: 'cart', version: '1.0.0' }),
    headers: headersOf(reader),
  }),
}
// Every caller who can see a project may read its pilets. To all other callers, the project seems not to exist. Pages,
// forms, sockets and queries are refused by origin, which features/cli-login/, features/live-sockets/handshake.test.ts
// and graphql.test.ts cover.
const elsewhere = [
  'GET /pilets/:projectId',
  'GET /pilets/:projectId/:name/:version',
  'POST /api/access/review',
  'GET /cli/authorize',
  'POST /cli/authorize',
  'GET /api/proxy/comms/:appID/ws',
  'POST /query',
]

describe('known callers without permission', () => {
  test('[errors.forbidden] they are answered 403, whether it is not permitted or of another tenant', async () => {
    for (const [name, call] of Object.entries(calls)) {
      const { path, headers, body } = call()
      const method = name.startsWith('ANY') ? 'POST' : (name.split(' ')[0] as string)
      const lines = { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) }
      const answer = await rawCall(service.url, {
        method,
        path,
        headers: Object.entries(lines),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      expect([name, answer.status, JSON.parse(answer.body).code]).toEqual([name, 403, 'forbidden'])
    }
  })

  test('no route that may answer 403 is missing here', () => {
    const { paths } = JSON.parse(
      readFileSync(new URL('../../../docs/api/openapi.json', import.meta.url), 'utf8'),
    ) as { paths: Record<string, Record<string, { responses?: Record<string, unknown> }>> }
    const declared = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        responses?.['403'] === undefined || path.startsWith('/esb/')
          ? []
          : [`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`],
      ),
    )
    const known = [...Object.keys(calls), ...elsewhere].filter((name) => name !== 'ANY /esb/*')
    expect(declared.toSorted()).toEqual(known.toSorted())
  })
})
