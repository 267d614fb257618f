// These tests use the X-Request-Id of a response to find the cause of a failure in the call log and in the
// request log.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { throughProxy } from '@manager/harness/credentials.ts'
import { esbAuditLogsOf } from '../../../test/kit/esb-calls.ts'
import { type Gateway, type HeaderLine, responseTo, startGateway } from '../../../test/kit/gateway.ts'
import { freshClient } from '../../../test/kit/machines.ts'

const maxBytes = 300_000
/** Timeout for entries that are written after the caller received the response or disconnected. */
const patience = { timeout: 60_000 }

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_ESB_MAX_RESPONSE_BYTES: String(maxBytes) } })
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.reset())

let count = 0
const newRequestId = (): string => `lines-${++count}`
const withId = (id: string): HeaderLine[] => [['x-request-id', id]]
const endpoint = (logLevel: string, input: Record<string, unknown> = {}) =>
  gateway.endpoint({ url: `${gateway.upstream.url}/target`, logLevel, ...input })

/** Returns the log line of a request, which is written when the response has ended. */
async function lineOf(requestId: string): Promise<Record<string, unknown>> {
  const find = () => gateway.service.logLines.filter((line) => line['request_id'] === requestId)
  await expect.poll(find, patience).toHaveLength(1)
  const [line = {}] = find()
  return line
}
/** Returns the entries of the call log with this request id. */
const rowsOf = async (requestId: string) => {
  const { applicationId } = gateway.project
  const args = { applicationId, requestId }
  return (
    await esbAuditLogsOf(gateway.service, gateway.admin, args, 'endpoint { id } responseStatus failure')
  ).data.calls as unknown
}

const unreachable = { url: 'http://169.254.169.254/' }
const noJson = { inputMessageType: 'JSON', transformationTemplate: 'x' }

test('the log line of a call names endpoint and failure, in the words of the call log, and a 5xx is a warning', async () => {
  for (const [input, status, level, failure] of [
    [{}, 200, 'info', null],
    [unreachable, 502, 'warn', 'the address of the upstream is not allowed'],
    [{ url: null }, 502, 'warn', 'the endpoint has no url to forward to'],
    [noJson, 400, 'info', 'the body is not JSON as the endpoint expects'],
  ] as const)
    for (const logLevel of ['NONE', 'BASIC', 'FULL']) {
      const { id, path } = await endpoint(logLevel, input)
      const requestId = newRequestId()
      const answer = await gateway.send(path, {
        method: 'POST',
        headers: withId(requestId),
        body: 'a-secret',
      })
      expect([answer.status, answer.headers['x-request-id']]).toEqual([status, requestId])
      const line = await lineOf(requestId)
      expect(line).toMatchObject({
        level,
        route: '/esb/*',
        status: String(status),
        endpoint: id,
        machine_user: gateway.machine.id,
        msg: 'request',
      })
      expect(line['failure'] ?? null).toBe(failure)
      expect('failure' in line).toBe(failure !== null)
      expect(await rowsOf(requestId)).toEqual(
        logLevel === 'NONE' ? [] : [{ endpoint: { id }, responseStatus: status, failure }],
      )
    }
  expect(JSON.stringify(gateway.service.logLines)).not.toContain('a-secret')
})

test('a status of the partner passes: a 5xx of theirs is a warning without a failure', async () => {
  const { id, path } = await endpoint('BASIC')
  for (const [status, level] of [
    [500, 'warn'],
    [404, 'info'],
  ] as const) {
    gateway.upstream.answer((_request, response) => response.writeHead(status).end())
    const requestId = newRequestId()
    await gateway.send(path, { headers: withId(requestId) })
    const line = await lineOf(requestId)
    expect(line).toMatchObject({ level, status: String(status), endpoint: id })
    expect(line).not.toHaveProperty('failure')
    expect(await rowsOf(requestId)).toEqual([{ endpoint: { id }, responseStatus: status, failure: null }])
  }
})

test('a refused call names its endpoint; one that finds none says so', async () => {
  const { id, accessId, path } = await endpoint('NONE')
  await gateway.access.change(gateway.admin, accessId, { enabled: false })
  const [refused, lost] = [newRequestId(), newRequestId()]
  await gateway.send(path, { headers: withId(refused) })
  await gateway.send(`${path}/x`, { headers: withId(lost) })
  expect(await lineOf(refused)).toMatchObject({
    level: 'info',
    status: '403',
    endpoint: id,
    failure: 'the machine user has no access to this endpoint',
  })
  const line = await lineOf(lost)
  expect(line).toMatchObject({ level: 'info', status: '404', failure: 'Endpoint not found or not enabled' })
  expect(line).not.toHaveProperty('endpoint')
  expect(await rowsOf(lost)).toEqual([])
})

test('a token that is refused leaves neither a line nor a row: anyone could fill the log with them', async () => {
  const { path } = await endpoint('BASIC')
  const [requestId, nextId] = [newRequestId(), newRequestId()]
  const token = randomBytes(32).toString('base64url')
  const headers: HeaderLine[] = [...withId(requestId), ...Object.entries(throughProxy(freshClient()))]
  expect((await gateway.send(path, { token, headers })).text).toContain(`"request_id":"${requestId}"`)
  await gateway.send(path, { headers: withId(nextId) })
  await lineOf(nextId)
  expect(gateway.service.logLines.filter((line) => line['request_id'] === requestId)).toEqual([])
  expect(await rowsOf(requestId)).toEqual([])
})

test('a response that is cut keeps its status, and its line is a warning with the reason', async () => {
  const { id, path } = await endpoint('BASIC')
  const begun = Promise.withResolvers<void>()
  gateway.upstream.answer((_request, response) => {
    response.write('x'.repeat(maxBytes))
    void begun.promise.then(() => response.end('x'))
  })
  const requestId = newRequestId()
  const outgoing = gateway.open(path, { headers: withId(requestId) })
  outgoing.once('response', (response) => response.once('data', () => begun.resolve()))
  const answer = responseTo(outgoing)
  outgoing.end()
  await expect(answer).rejects.toThrow('aborted')
  const failure = 'the upstream response is too large'
  expect(await lineOf(requestId)).toMatchObject({ level: 'warn', status: '200', aborted: true, failure })
  // The response was truncated before the end of the call was logged.
  await expect
    .poll(() => rowsOf(requestId), patience)
    .toEqual([{ endpoint: { id }, responseStatus: 502, failure }])
})

test('a caller that goes away is nothing to look into: a line of level info that says so', async () => {
  const { path } = await endpoint('NONE')
  const arrived = Promise.withResolvers<void>()
  gateway.upstream.handle(() => arrived.resolve())
  const requestId = newRequestId()
  const outgoing = gateway.open(path, { headers: withId(requestId) })
  outgoing.on('error', () => undefined).end()
  await arrived.promise
  outgoing.destroy()
  const failure = 'the caller closed the connection'
  expect(await lineOf(requestId)).toMatchObject({ level: 'info', aborted: true, failure })
})
