// These tests cover what the call log stores at each log level, and when it is written.
import type { Histogram } from 'prom-client'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { throughProxy } from '@manager/harness/credentials.ts'
import { esbAuditLogsOf } from '../../../test/kit/esb-calls.ts'
import {
  type Gateway,
  type HeaderLine,
  type LoggedCall,
  type Sent,
  responseTo,
  startGateway,
} from '../../../test/kit/gateway.ts'
import { freshClient } from '../../../test/kit/machines.ts'
import { uuid } from '../../../test/kit/members.ts'

const maxBytes = 300_000
/** Timeout for entries that are written after the caller received the response or disconnected. */
const patience = { timeout: 60_000 }

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({
    env: {
      SVC_ESB_MAX_REQUEST_BYTES: String(maxBytes),
      SVC_ESB_MAX_RESPONSE_BYTES: String(maxBytes),
      SVC_ESB_FORWARD_TIMEOUT: '5s',
    },
  })
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.reset())

type Input = Record<string, unknown>
const endpoint = (logLevel: string, input: Input = {}) =>
  gateway.endpoint({ url: `${gateway.upstream.url}/target`, logLevel, ...input })
/** Calls a new endpoint and returns its single row. */
async function rowOf(logLevel: string, sent: Sent = {}, input: Input = {}, query = ''): Promise<LoggedCall> {
  const { id, path } = await endpoint(logLevel, input)
  await gateway.send(`${path}${query}`, { method: 'POST', ...sent }).catch(() => undefined)
  const rows = await gateway.logged(id)
  expect(rows).toHaveLength(1)
  return rows[0] as LoggedCall
}
const bodyOf = async (sent: Sent): Promise<string | null> => (await rowOf('FULL', sent)).request_body
/** Returns what the log stores for a response with this body. */
async function answerOf(body: string | Buffer, headers: Record<string, string> = {}): Promise<string | null> {
  gateway.upstream.answer((_request, response) => response.writeHead(200, headers).end(body))
  return (await rowOf('FULL')).response_body
}
const noContents = { request_headers: null, request_body: null, response_headers: null, response_body: null }

describe('which calls are logged', () => {
  const tooLarge = Buffer.alloc(maxBytes + 1)
  const isTooLarge = `the request body is larger than ${maxBytes} bytes`
  const isNoJson = 'the body is not JSON as the endpoint expects'
  const hasFailed = 'the transformation template failed at 1:3'
  const strict = { inputMessageType: 'JSON', transformationTemplate: '{{.Meta.Timestamp.X}}' }
  const outcomes: [string, Input, Sent, number, string | null][] = [
    ['answered', {}, {}, 200, null],
    ['no url', { url: null }, {}, 502, 'the endpoint has no url to forward to'],
    ['refused', { url: 'http://127.0.0.1:1/' }, {}, 502, 'the upstream refuses connections'],
    ['too large', {}, { body: tooLarge }, 413, isTooLarge],
    ['too large, and not announced', {}, { body: tooLarge, isChunked: true }, 413, isTooLarge],
    ['unparseable', strict, { body: '{' }, 400, isNoJson],
    ['template', strict, { body: '{}' }, 500, hasFailed],
  ]

  test('[esb-audit.one-row] an admitted call has one row with its status and what went wrong, whatever becomes of it; at NONE it has none', async () => {
    for (const [what, input, sent, response_status, failure] of outcomes) {
      for (const level of ['BASIC', 'FULL'])
        expect([what, await rowOf(level, sent, input)]).toEqual([
          what,
          expect.objectContaining({ response_status, failure, transformed: false }),
        ])
      const { id, path } = await endpoint('NONE', input)
      expect((await gateway.send(path, { method: 'POST', ...sent })).status).toBe(response_status)
      expect(await gateway.logged(id)).toEqual([])
    }
  })

  test('[esb-audit.one-row] what the upstream says is the status, and no failure', async () => {
    for (const status of [204, 302, 404, 500, 599]) {
      gateway.upstream.answer((_request, response) => response.writeHead(status).end())
      expect(await rowOf('BASIC')).toMatchObject({ response_status: status, failure: null })
    }
  })

  test('[esb-audit.one-row] an answer that is cut has failed, and the row says why', async () => {
    for (const rest of ['', 'x'.repeat(maxBytes)]) {
      const begun = Promise.withResolvers<void>()
      gateway.upstream.answer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).write('part')
        void begun.promise.finally(() => (rest === '' ? response.destroy() : response.end(rest)))
      })
      const { id, path } = await endpoint('FULL')
      const outgoing = gateway.open(path)
      outgoing.once('response', (response) => response.once('data', () => begun.resolve()))
      const answer = responseTo(outgoing)
      outgoing.end()
      await expect(answer).rejects.toThrow('aborted')
      const why =
        rest === '' ? 'the upstream response is incomplete or invalid' : 'the upstream response is too large'
      await expect
        .poll(
          async () => (await gateway.logged(id)).map((row) => [row.response_status, row.failure]),
          patience,
        )
        .toEqual([[502, why]])
    }
  })

  test('[esb-audit.one-row] a call that was not admitted has none', async () => {
    const { id, path } = await endpoint('FULL')
    const headers: HeaderLine[] = Object.entries(throughProxy(freshClient()))
    const statuses = [
      (await gateway.send(path, { token: null, headers })).status,
      (await gateway.send(path, { token: randomBytes(32).toString('base64url'), headers })).status,
      (await gateway.send(`${path}/x`)).status,
    ]
    await gateway.endpoints.update(gateway.admin, id, { enabled: false })
    statuses.push((await gateway.send(path)).status)
    expect(statuses).toEqual([401, 401, 404, 404])
    expect(await gateway.logged(id)).toEqual([])
  })

  test('[esb-audit.one-row] a caller that goes away leaves a row without a status', async () => {
    const { id, path } = await endpoint('FULL')
    for (const isWhole of [true, false]) {
      const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      gateway.upstream.handle((request) => {
        request.on('data', () => arrived.resolve()).on('close', () => gone.resolve())
      })
      const headers: HeaderLine[] = [['transfer-encoding', 'chunked']]
      const outgoing = gateway.open(path, { method: 'POST', headers })
      outgoing.on('error', () => undefined).write('some')
      if (isWhole) outgoing.end()
      await arrived.promise
      outgoing.destroy()
      await gone.promise
    }
    await expect
      .poll(
        async () =>
          (await gateway.logged(id)).map(({ failure, duration_ms }) => [failure, duration_ms !== null]),
        patience,
      )
      .toEqual([
        ['the caller closed the connection', true],
        ['the caller closed the connection', true],
      ])
    expect((await gateway.logged(id)).map(({ response_status }) => response_status)).toEqual([null, null])
    // A disconnect is not an error.
    expect(gateway.service.logLines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('what is kept', () => {
  test('[esb-audit.basic] BASIC keeps the facts, and no headers or bodies', async () => {
    const secret = { headers: [['x-custom', 'value']] as HeaderLine[], body: '{"a":1}' }
    const before = Date.now()
    const { id, path } = await endpoint('BASIC', { transformationTemplate: '{{.Data.a}}' })
    await gateway.send(`${path}?b=2`, { method: 'PROPFIND', ...secret })
    const [row] = (await gateway.logged(id)) as (LoggedCall & { id: string; created_at: Date })[]
    expect(row).toEqual({
      id: uuid,
      request_id: uuid,
      created_at: expect.any(Date),
      endpoint_id: id,
      machine_user_id: gateway.machine.id,
      source_ip: '127.0.0.1',
      method: 'PROPFIND',
      path,
      target_url: `${gateway.upstream.url}/target?b=2`,
      response_status: 200,
      duration_ms: expect.any(Number),
      transformed: true,
      is_test: false,
      failure: null,
      ...noContents,
    })
    expect(Number(row?.created_at)).toBeGreaterThanOrEqual(before)
    expect(Number(row?.created_at)).toBeLessThanOrEqual(Date.now())
    const { data } = await esbAuditLogsOf(
      gateway.service,
      gateway.admin,
      { applicationId: gateway.project.applicationId, endpointId: id },
      'application { id } endpoint { id } machineUser { id }',
    )
    expect(data.calls).toEqual([
      {
        application: { id: gateway.project.applicationId },
        endpoint: { id },
        machineUser: { id: gateway.machine.id },
      },
    ])
  })

  test('[esb-audit.basic] the address is that of the caller, as far as whoever forwarded it is trusted', async () => {
    const forwarded: HeaderLine = ['x-forwarded-for', '203.0.113.7']
    expect((await rowOf('BASIC', { headers: [forwarded] })).source_ip).toBe('127.0.0.1')
    const headers = [...Object.entries(throughProxy()), forwarded] as HeaderLine[]
    expect((await rowOf('BASIC', { headers })).source_ip).toBe('203.0.113.7')
  })

  test('[esb-audit.basic] the target is logged with its query, and secrets in it are not', async () => {
    const at = `${gateway.upstream.url}/t`
    const target = async (stored: string, query: string) =>
      (await rowOf('BASIC', {}, { url: `${at}${stored}` }, query)).target_url
    expect(await target('', '')).toBe(at)
    expect(await target('?k=v', '?token=hush&b=2')).toBe(`${at}?k=v&token=[REDACTED]&b=2`)
    expect(await target('?api_key=hush', '?b=2')).toBe(`${at}?api_key=[REDACTED]&b=2`)
    expect(gateway.upstream.received.at(-1)?.url).toBe('/t?api_key=hush&b=2')
    const row = await rowOf('BASIC', {}, {}, '?password=hush')
    expect(JSON.stringify(row)).not.toContain('hush')
  })

  test('[esb-audit.basic] the duration is that of the call', async () => {
    gateway.upstream.answer((_request, response) => void setTimeout(() => response.end(), 80))
    const started = performance.now()
    const { duration_ms } = await rowOf('BASIC')
    expect(duration_ms).toBeGreaterThanOrEqual(78)
    expect(duration_ms).toBeLessThan(performance.now() - started)
  })

  test('[esb-audit.full] FULL adds headers and bodies as they came, without secrets', async () => {
    gateway.upstream.answer((_request, response) => {
      const body = '{"ok":true,"access_token":"hush"}'
      response.writeHead(201, {
        'Set-Cookie': ['s=hush', 't=hush'],
        'X-Two': ['1', '2'],
        'content-length': body.length,
      })
      response.end(body)
    })
    const row = await rowOf(
      'FULL',
      {
        body: '{"name":"n","password":"hush","deep":[{"iban":"hush"}]}',
        headers: [
          ['Content-Type', 'application/json'],
          ['X-Two', '1'],
          ['x-two', '2'],
          ['Cookie', 's=hush'],
          ['X-Api-Key', 'hush'],
        ],
      },
      { transformationTemplate: 'rendered', authType: 'Bearer', authToken: 'hush' },
    )
    expect(row).toMatchObject({
      response_status: 201,
      transformed: true,
      request_body: '{"name":"n","password":"[REDACTED]","deep":[{"iban":"[REDACTED]"}]}',
      response_body: '{"ok":true,"access_token":"[REDACTED]"}',
    })
    expect(row.request_headers).toEqual(
      [
        ['host', 'gateway.example'],
        ['authorization', '[REDACTED]'],
        ['Content-Type', 'application/json'],
        ['X-Two', '1'],
        ['x-two', '2'],
        ['Cookie', '[REDACTED]'],
        ['X-Api-Key', '[REDACTED]'],
        ['content-length', '55'],
        ['Connection', 'close'],
      ].map(([name, value]) => ({ name, value })),
    )
    const answered = row.response_headers?.filter(({ name }) => /cookie|two|length/.test(name))
    expect(answered).toEqual(
      [
        ['set-cookie', '[REDACTED]'],
        ['set-cookie', '[REDACTED]'],
        ['x-two', '1'],
        ['x-two', '2'],
        ['content-length', '33'],
      ].map(([name, value]) => ({ name, value })),
    )
    expect(JSON.stringify(row)).not.toMatch(/hush/)
  })

  test('[esb-audit.full] a call that failed keeps what there was of it', async () => {
    const sent = { body: '{"a":' }
    const row = await rowOf('FULL', sent, { inputMessageType: 'JSON', transformationTemplate: 'x' })
    expect(row).toMatchObject({
      request_body: '[text, 5 bytes]',
      response_headers: null,
      response_body: null,
    })
    expect(await rowOf('FULL', sent, { url: null })).toMatchObject({ request_body: '', response_body: null })
    expect(await rowOf('FULL')).toMatchObject({ request_body: '', response_body: '{"accepted":true}' })
  })

  test('[esb-audit.full] bodies over 64 KiB are cut and marked, in both directions', async () => {
    const values = `[${`"${'x'.repeat(997)}",`.repeat(65)}`
    const [fits, over] = [532, 533].map((length) => `${values}"${'x'.repeat(length)}"]`) as [string, string]
    // The stored text ends with its last complete value.
    const cut = `${values.slice(0, -1)} [truncated: 65536 of 65537 bytes]`
    for (const isChunked of [false, true]) {
      expect(await bodyOf({ body: fits, isChunked })).toBe(fits)
      expect(await bodyOf({ body: over, isChunked })).toBe(cut)
      expect(await bodyOf({ body: `${values}"${'x'.repeat(100_000)}"]`, isChunked })).toBe(
        cut.replace('65537', '165004'),
      )
    }
    expect(await bodyOf({ body: 'x'.repeat(65_537) })).toBe('[text, 65537 bytes]')
    expect(await answerOf(fits)).toBe(fits)
    expect(await answerOf(over)).toBe(cut)
    const row = await rowOf('FULL', { body: over }, { transformationTemplate: 'x' })
    expect(row.request_body).toBe(cut)
  })

  test('[esb-audit.full] binary and encoded bodies are a length, in both directions', async () => {
    const binary = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff, 0xfe])
    const zipped = gzipSync('{"password":"hush"}')
    const gzip: HeaderLine = ['Content-Encoding', 'gzip']
    expect(await bodyOf({ body: binary })).toBe('[binary, 9 bytes]')
    expect(await bodyOf({ body: zipped, headers: [gzip] })).toBe(`[binary, ${zipped.length} bytes]`)
    expect(await answerOf(binary)).toBe('[binary, 9 bytes]')
    expect(await answerOf(zipped, { 'content-encoding': 'gzip' })).toBe(`[binary, ${zipped.length} bytes]`)
    const text = 'it looks like text'
    expect(await bodyOf({ body: text, headers: [['Content-Encoding', 'br']] })).toBe('[binary, 18 bytes]')
    expect(await answerOf(text, { 'content-encoding': 'br' })).toBe('[binary, 18 bytes]')
    expect(await bodyOf({ body: text, headers: [['Content-Encoding', 'identity']] })).toBe('[text, 18 bytes]')
    // Text that cannot be stored does not make the call fail.
    expect(await bodyOf({ body: 'a\u0000b' })).toMatch(/^a\ufffdb$|^\[binary/)
    const { request_headers } = await rowOf('FULL', { headers: [['X-Latin', '\u00e9\u00ff']] })
    expect(request_headers).toContainEqual({ name: 'X-Latin', value: '\u00e9\u00ff' })
  })
})

describe('when it is kept', () => {
  test('a call is written down before the upstream hears of it', async () => {
    for (const level of ['BASIC', 'FULL']) {
      const { id, path } = await endpoint(level)
      gateway.upstream.answer((_request, response) => {
        void gateway
          .logged(id)
          .then((rows) => response.end(JSON.stringify(rows.map((row) => row.duration_ms))))
      })
      expect((await gateway.send(path)).text).toBe('[null]')
    }
  })

  test('[esb-audit.before-answer] whoever has the whole answer finds the row by another connection', async () => {
    const levels = [await endpoint('BASIC'), await endpoint('FULL')]
    for (let call = 0; call < 200; call++) {
      const { id, path } = levels[call % 2] as (typeof levels)[0]
      // The responses are small and large, with and without a known length.
      const body = 'x'.repeat(call % 3 === 0 ? 100_000 : 5)
      const headers = call % 4 < 2 ? { 'content-length': body.length } : {}
      gateway.upstream.answer((_request, response) => response.writeHead(200 + call, headers).end(body))
      const { status } = await gateway.send(path)
      expect(status).toBe(200 + call)
      const { rows } = await gateway.service.sql.query<LoggedCall>(
        'select response_status from esb_audit_logs where endpoint_id = $1 and response_status = $2',
        [id, 200 + call],
      )
      expect(rows).toHaveLength(1)
    }
  })

  test('the time of admitted calls is measured by what became of them', async () => {
    const counts = async () => {
      const metric = gateway.service.world.metrics.registry.getSingleMetric(
        'svc_esb_forward_duration_seconds',
      )
      const { values } = await (metric as Histogram<'outcome'>).get()
      const of = (outcome: string) =>
        values.find(
          ({ metricName, labels }) => metricName?.endsWith('_count') === true && labels.outcome === outcome,
        )?.value ?? 0
      return ['answered', 'failed', 'refused', 'abandoned'].map(of)
    }
    const before = await counts()
    await rowOf('NONE').catch(() => undefined)
    await rowOf('BASIC', {}, { url: 'http://127.0.0.1:1/' })
    await rowOf('BASIC', {}, { url: null })
    const { path } = await endpoint('BASIC')
    gateway.upstream.handle((request) => void request.resume().on('end', () => outgoing.destroy()))
    const outgoing = gateway.open(path)
    const answer = responseTo(outgoing)
    outgoing.end()
    await expect(answer).rejects.toThrow()
    await expect
      .poll(async () => (await counts()).map((count, i) => count - (before[i] ?? 0)), patience)
      .toEqual([1, 1, 1, 1])
  })
})
