// These tests cover the counter, by application, of calls that failed because of the Manager itself.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../../test/kit/gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.reset())

/** Returns the exposed series of the counter. */
async function failures(): Promise<Record<string, number>> {
  const text = await gateway.service.world.metrics.registry.metrics()
  return Object.fromEntries(
    [...text.matchAll(/^svc_esb_failures_total\{application="(.*)"\} (\d+)$/gm)].map(([, id, count]) => [
      id,
      Number(count),
    ]),
  )
}
const statusOf = async (input: Record<string, unknown>): Promise<number> =>
  (await gateway.send((await gateway.endpoint(input)).path, { method: 'POST', body: '{}' })).status

test('500, 502 and 503 of the service count for the application; what a partner answers, refusals and unknown ids do not', async () => {
  const { applicationId } = gateway.project
  expect(await failures()).toEqual({ other: 0 })
  const url = gateway.upstream.url
  gateway.upstream.answer((_request, response) => response.writeHead(503).end())
  expect(await statusOf({ url })).toBe(503)
  const refused = await gateway.endpoint({ url })
  await gateway.access.withdraw(gateway.admin, refused.accessId)
  expect((await gateway.send(refused.path)).status).toBe(403)
  for (const id of [applicationId, randomUUID()])
    expect((await gateway.send(`/esb/${id}/nowhere`)).status).toBe(404)
  expect(await failures()).toEqual({ other: 0 })

  expect(await statusOf({ url: null })).toBe(502)
  expect(await failures()).toEqual({ other: 0, [applicationId]: 1 })
  expect(await statusOf({ url: 'http://127.0.0.1:1/' })).toBe(502)
  const template = { inputMessageType: 'JSON', transformationTemplate: '{{.Meta.Timestamp.X}}' }
  expect(await statusOf({ url, ...template })).toBe(500)
  expect(await failures()).toEqual({ other: 0, [applicationId]: 3 })

  const { path } = await gateway.endpoint({ url, logLevel: 'BASIC' })
  await gateway.service.sql.query('alter table esb_audit_logs rename to lost')
  expect((await gateway.send(path)).status).toBe(503)
  await gateway.service.sql.query('alter table lost rename to esb_audit_logs')
  expect(await failures()).toEqual({ other: 0, [applicationId]: 4 })
})
