// Tests that the only trace of a refused call is its log row: the call is not forwarded and does not prevent
// deletions.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createMachine } from '@manager/harness/credentials.ts'
import { esbAuditLogsOf, seedCall } from '../kit/esb-calls.ts'
import { type Gateway, responseTo, startGateway } from '../kit/gateway.ts'

const maxBytes = 100_000
const noAccess = 'the machine user has no access to this endpoint'
const refused = { response_status: 403, failure: noAccess, transformed: false }
let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_ESB_MAX_REQUEST_BYTES: String(maxBytes) } })
})
afterAll(() => gateway.close())
afterEach(() => gateway.upstream.reset())

/** Creates a machine user in the project without access to any endpoint. */
async function stranger(): Promise<{ id: string; token: string }> {
  const { id, token } = await createMachine(gateway.service, gateway.admin, gateway.project.environmentId)
  return { id, token: token as string }
}
const endpoint = (input: Record<string, unknown> = {}) =>
  gateway.endpoint({ url: `${gateway.upstream.url}/target`, ...input })
const remove = async (mutation: 'deleteEndpoint' | 'deleteMachineUser', id: string) =>
  (await gateway.service.query(gateway.admin, `mutation($id: ID!) { done: ${mutation}(id: $id) }`, { id }))
    .error

describe('a call without access', () => {
  test.each([
    ['BASIC', { request_headers: null, request_body: null }],
    ['FULL', { request_headers: expect.arrayContaining([{ name: 'x-a', value: '1' }]), request_body: '' }],
  ])(
    '[esb-audit.one-row] has one row at %s, which people see, and is not forwarded',
    async (logLevel, contents) => {
      const { id, path } = await endpoint({ logLevel, transformationTemplate: '{{.Data.x.y}}' })
      const { id: machineUserId, token } = await stranger()
      const answer = await gateway.send(`${path}?a=1`, {
        method: 'POST',
        token,
        headers: [['x-a', '1']],
        body: '{',
      })
      expect(answer).toMatchObject({ status: 403, error: noAccess })
      expect(await gateway.logged(id)).toEqual([
        expect.objectContaining({
          ...refused,
          ...contents,
          machine_user_id: machineUserId,
          method: 'POST',
          path,
          target_url: `${gateway.upstream.url}/target?a=1`,
          duration_ms: expect.any(Number),
          response_headers: null,
          response_body: null,
        }),
      ])
      expect(gateway.upstream.received).toEqual([])
      const { data } = await esbAuditLogsOf(
        gateway.service,
        gateway.admin,
        { applicationId: gateway.project.applicationId, endpointId: id },
        'responseStatus failure machineUser { id }',
      )
      expect(data).toEqual({
        calls: [{ responseStatus: 403, failure: noAccess, machineUser: { id: machineUserId } }],
      })
    },
  )

  test('has none at NONE', async () => {
    const { id, path } = await endpoint({ logLevel: 'NONE' })
    expect((await gateway.send(path, { token: (await stranger()).token })).status).toBe(403)
    expect(await gateway.logged(id)).toEqual([])
  })

  test('is refused before anything else about it is looked at', async () => {
    const { id, path } = await endpoint({ url: null })
    const { token } = await stranger()
    const sent = { method: 'POST', token, body: Buffer.alloc(maxBytes + 1) }
    for (let round = 1; round <= 3; round++) {
      expect((await gateway.send(path, sent)).status).toBe(403)
      expect(await gateway.logged(id)).toMatchObject(Array.from({ length: round }, () => refused))
    }
  })

  test('is not answered without its row', async () => {
    const { path } = await endpoint()
    const { token } = await stranger()
    await gateway.service.sql.query('alter table esb_audit_logs rename to away')
    const answer = await gateway.send(path, { token })
    await gateway.service.sql.query('alter table away rename to esb_audit_logs')
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })

  test('keeps neither its endpoint nor its machine user from being deleted', async () => {
    const { id, path } = await endpoint()
    const { id: machineUserId, token } = await stranger()
    for (let i = 0; i < 3; i++) expect((await gateway.send(path, { token })).status).toBe(403)
    expect(await gateway.logged(id)).toHaveLength(3)
    expect(await remove('deleteMachineUser', machineUserId)).toBeNull()
    const other = await stranger()
    expect((await gateway.send(path, { token: other.token })).status).toBe(403)
    expect(await remove('deleteEndpoint', id)).toBeNull()
    expect((await gateway.send(path, { token: other.token })).status).toBe(404)
  })
})

describe('an endpoint that served a call', () => {
  test.each([
    ['before', [403, 200]],
    ['afterwards', [200, 403]],
  ])('stays, when the machine user was refused %s', async (_when, statuses) => {
    const { id, accessId, path } = await endpoint()
    for (const status of statuses) {
      await gateway.access.change(gateway.admin, accessId, { enabled: status === 200 })
      expect((await gateway.send(path)).status).toBe(status)
    }
    expect(await remove('deleteEndpoint', id)).toContain('logged ESB requests and cannot be deleted')
    expect(await remove('deleteMachineUser', gateway.machine.id)).toContain('cannot be deleted')
  })

  test('goes when that call has gone with its month, however often it was refused since', async () => {
    const { id, path } = await endpoint()
    const { id: machineUserId, token } = await stranger()
    const lastMonth = new Date(new Date().setUTCDate(0)).toISOString()
    const pair = [id, machineUserId]
    await seedCall(
      gateway.service.sql,
      { projectId: gateway.project.id, endpointId: id, machineUserId },
      { createdAt: lastMonth },
    )
    await gateway.service.sql.query(
      `update esb_callers set served_until = $3::timestamptz + interval '1 minute'
       where endpoint_id = $1 and machine_user_id = $2`,
      [...pair, lastMonth],
    )
    expect((await gateway.send(path, { token })).status).toBe(403)
    expect(await remove('deleteEndpoint', id)).toContain('1 logged ESB request and')
    await gateway.service.sql.query(
      'delete from esb_audit_logs where endpoint_id = $1 and machine_user_id = $2 and created_at = $3',
      [...pair, lastMonth],
    )
    expect(await gateway.logged(id)).toMatchObject([refused])
    expect(await remove('deleteEndpoint', id)).toBeNull()
  })
})

describe('a body that turns out too large while it passes', () => {
  const upstreams: [string, Parameters<Gateway['upstream']['handle']>[0]][] = [
    ['reads it', (request) => void request.resume()],
    ['does not read it', () => undefined],
    ['has begun to answer', (_request, response) => void response.writeHead(200).write('part')],
  ]
  test.each(upstreams)('is told in the row when the upstream %s', async (_how, handle) => {
    gateway.upstream.handle(handle)
    const { id, path } = await endpoint()
    const outgoing = gateway.open(path, { method: 'POST', headers: [['transfer-encoding', 'chunked']] })
    const answer = responseTo(outgoing).catch(() => null)
    for (let sent = 0; sent <= maxBytes; sent += 10_000) {
      outgoing.write(Buffer.alloc(10_000))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    outgoing.end()
    await answer
    const failure = `the request body is larger than ${maxBytes} bytes`
    await expect
      .poll(async () => (await gateway.logged(id)).map((row) => [row.response_status, row.failure]))
      .toEqual([[413, failure]])
  })
})
