// Tests the log line of a request: its fields for a GraphQL document, and its level.
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../src/platform/log/log.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { json, postBody } from '@manager/harness/graphql.ts'
import { seedUser } from '@manager/harness/seed.ts'

type Line = Record<string, unknown>

let service: TestApp
let person: Person
let loopDelayMs = 0
/** A second process with log level warn. */
let quiet: TestApp
const quietLines: Line[] = []
const quietLog = new Writable({
  write: (chunk: Buffer, _encoding, done) => {
    quietLines.push(JSON.parse(chunk.toString()) as Line)
    done()
  },
})

beforeAll(async () => {
  const transport = { loopDelayMs: () => loopDelayMs }
  service = await startTestApp({ transport })
  person = await seedUser(service.sql, 'person')
  quiet = await startTestApp({
    transport,
    database: service.database,
    world: { log: createLog('warn', quietLog) },
  })
})
afterAll(async () => {
  await quiet.close()
  await service.close()
})

let count = 0
const newId = (): string => `line-${++count}`
/** Returns the log line of a request, which is written when the response has ended. */
async function lineOf(requestId: string, lines: Line[] = service.logLines): Promise<Line> {
  const find = () => lines.filter((line) => line['request_id'] === requestId && line['msg'] === 'request')
  await expect.poll(find, { timeout: 60_000 }).toHaveLength(1)
  return find()[0] as Line
}
const post = async (body: string, { url }: TestApp = service): Promise<string> => {
  const requestId = newId()
  await postBody(url, { ...headersOf(person), 'x-request-id': requestId }, body)
  return requestId
}
const lineAfter = async (body: string): Promise<Line> => lineOf(await post(body))

describe('the line of a GraphQL document', () => {
  test('names the operation: the one that was asked for, or the one of the document', async () => {
    const two = 'query One { me { id } } query Two { me { role } }'
    for (const [body, operation] of [
      [json('{ me { id } }'), null],
      [json('query Mine { me { id } }'), 'Mine'],
      [json(two, { operationName: 'Two' }), 'Two'],
      [json(`query ${'x'.repeat(100)} { me { id } }`), 'x'.repeat(100)],
    ] as const)
      expect(await lineAfter(body)).toEqual({
        level: 'info',
        time: expect.any(String) as string,
        pid: process.pid,
        request_id: `line-${count}`,
        route: '/query',
        method: 'POST',
        status: '200',
        duration_ms: expect.any(Number) as number,
        actor: person.id,
        operation,
        msg: 'request',
      })
  })

  test('with errors is a warning with the code of the first, whatever its status', async () => {
    for (const [body, status, operation, error_code] of [
      [json(`query Lost { project(slug: "unknown") { id } }`), '200', 'Lost', 'not_found'],
      [json(`mutation { createProject(input: { name: "a" }) { id } }`), '400', null, 'bad_request'],
      [json('query Wrong { nothing }'), '400', null, 'bad_request'],
      // Operation names longer than 100 characters are rejected.
      [json(`query ${'x'.repeat(101)} { me { id } }`), '400', null, 'bad_request'],
      [json('query A { me { id } }', { operationName: 'B' }), '400', 'B', 'bad_request'],
      [json('query V($slug: String!) { project(slug: $slug) { id } }'), '400', 'V', 'bad_request'],
    ] as const)
      expect(await lineAfter(body)).toMatchObject({ level: 'warn', status, operation, error_code })
  })

  test('without errors has no code, and what is no document stays at info', async () => {
    expect(await lineAfter(json('{ me { id } }'))).not.toHaveProperty('error_code')
    const line = await lineAfter('no JSON')
    expect(line).toMatchObject({ level: 'info', status: '400' })
    expect(line).not.toHaveProperty('operation')
  })

  test('holds no value of the document', async () => {
    const secret = 'a-value-of-the-caller'
    await lineAfter(json(`query Q { project(slug: "${secret}") { id } }`))
    await lineAfter(
      json('query Q($slug: String!) { project(slug: $slug) { id } }', { variables: { slug: secret } }),
    )
    expect(JSON.stringify(service.logLines)).not.toContain(secret)
  })
})

describe('the level of a line', () => {
  const get = async (path: string, { url }: TestApp): Promise<string> => {
    const requestId = newId()
    await fetch(url + path, { headers: { 'x-request-id': requestId } })
    return requestId
  }
  const shed = async (of: TestApp): Promise<string> => {
    loopDelayMs = 5_000
    try {
      return await get('/esb/x', of)
    } finally {
      loopDelayMs = 0
    }
  }

  test('is warn for a 5xx, and info for all other plain requests', async () => {
    const line = {
      level: 'warn',
      time: expect.any(String) as string,
      pid: process.pid,
      route: '/esb/*',
      method: 'GET',
      status: '503',
      duration_ms: expect.any(Number) as number,
      msg: 'request',
    }
    const shedId = await shed(service)
    expect(await lineOf(shedId)).toEqual({ ...line, request_id: shedId })
    const request_id = await get('/health', service)
    const more = { level: 'info', route: '/health', status: '200', request_id }
    expect(await lineOf(request_id)).toEqual({ ...line, ...more })
  })

  test('decides whether it is written: with log level warn, warnings are and others are not', async () => {
    await get('/health', quiet)
    await post(json('{ me { id } }'), quiet)
    const failed = [await shed(quiet), await post(json('{ nothing }'), quiet)]
    expect(await lineOf(failed[1] as string, quietLines)).toMatchObject({ level: 'warn', status: '400' })
    const written = quietLines.filter(({ msg }) => msg === 'request').map((line) => line['request_id'])
    expect(written).toEqual(failed)
  })
})

test('an error of the database is logged without the values of the row it quotes', async () => {
  const failure = await service.sql
    .query(
      `insert into users (id, external_name, external_username, external_email, role)
       values (gen_random_uuid(), 'n', 'u', 'private@example.com', 'no role')`,
    )
    .catch((error: unknown) => error)
  expect(String((failure as { detail?: string }).detail)).toContain('private@example.com')
  quiet.world.log.error({ err: failure }, 'it failed')
  const line = quietLines.findLast(({ msg }) => msg === 'it failed')
  expect(line).toMatchObject({ err: { code: '23514' } })
  expect(JSON.stringify(line)).not.toContain('private@example.com')
})
