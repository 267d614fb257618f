// These tests cover the field rules of emits and live data. Each error names the field and the rule, and a rejected
// request stores nothing.
import { beforeAll, describe, expect, test } from 'vitest'
import {
  contentOf,
  emit,
  generousLimits,
  targetFields,
  publish,
  seedTenantMember,
} from '../../../test/kit/comms.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, project } = useProject({ env: generousLimits })
let token: string
beforeAll(async () => {
  token = (await seedMachineUser(service.sql, project)).token
  await seedTenantMember(service, project)
})
const send = (body: object) => emit(service, token, { ...targetFields(project), ...body })
const live = (body: object) => publish(service, token, { ...targetFields(project), ...body })
const kept = async (body: object) => contentOf(service, (await send(body)).body.notification_id)

async function expectAccepted(field: string, values: readonly unknown[]): Promise<void> {
  for (const value of values)
    expect([value, await send({ [field]: value })]).toMatchObject([value, { status: 202 }])
}
async function expectRefused(field: string, values: readonly unknown[], error: unknown): Promise<void> {
  for (const value of values)
    expect([value, await send({ [field]: value })]).toMatchObject([
      value,
      { status: 400, body: { error, code: 'bad_request' } },
    ])
}
const about = (field: string): unknown => expect.stringMatching(new RegExp(`^${field} must`))
const control = 'must not contain control characters or malformed Unicode'

describe('texts', () => {
  test('[comms.emit-texts] a type is dotted and has at most 100 characters', async () => {
    await expectAccepted('type', ['a', 'order.shipped', 'A-1_b.c.d', 'x'.repeat(100), null])
    await expectRefused(
      'type',
      ['', '.', 'a.', '.a', 'a..b', 'a b', 'ä', 'a/b', 'a\n', 'x'.repeat(101), 'a.'.repeat(50), 1, {}],
      about('type'),
    )
  })

  test('[comms.emit-texts] a title has at most 200 characters, a body at most 4000; a character is a code point', async () => {
    for (const [field, most] of [
      ['title', 200],
      ['body', 4_000],
    ] as const) {
      await expectAccepted(field, ['', 'x'.repeat(most), '🙂'.repeat(most), 'e\u0301'.repeat(most / 2), null])
      await expectRefused(
        field,
        ['x'.repeat(most + 1), '🙂'.repeat(most + 1), 'e\u0301'.repeat(most / 2 + 1)],
        about(field),
      )
      await expectRefused(field, ['a\u0000b', '\u001b[0m', '\ud83d', 'a\ude42'], `${field} ${control}`)
      await expectRefused(field, [1, true, ['x'], {}], about(field))
    }
  })

  test('[comms.emit-roles] roles are 1 to 50 names of 1 to 100 characters', async () => {
    await expectAccepted('roles', [['x'], Array.from({ length: 50 }, (_, n) => `${n}`), ['ü'.repeat(100)]])
    await expectRefused(
      'roles',
      [[], Array.from({ length: 51 }, (_, n) => `${n}`), null, 'x', [1]],
      about('roles'),
    )
    await expectRefused('roles', [[''], ['x'.repeat(101)], ['a\u0000'], ['\ud83d']], about('roles'))
  })
})

describe('extras', () => {
  test('[comms.emit-extras] a severity is info, success, warning or error, and info by default', async () => {
    for (const severity of ['info', 'success', 'warning', 'error'])
      expect(await kept({ severity })).toMatchObject({ severity })
    expect(await kept({ severity: null })).toMatchObject({ severity: 'info' })
    await expectRefused(
      'severity',
      ['Info', '', 'fatal', 1, ['info']],
      'severity must be info, success, warning or error',
    )
  })

  test('[comms.emit-extras] a link is a path that starts with a single slash, or an https URL', async () => {
    const fitting = `/${'x'.repeat(1_999)}`
    await expectAccepted('link', [
      '/',
      '/a/b?c#d',
      '/ü',
      'https://example.com',
      'HTTPS://example.com/a?b',
      fitting,
      null,
    ])
    const dangerous = ['//evil.example', '/\\evil.example', '\\\\evil', 'javascript:alert(1)', 'data:x']
    const insecure = [
      'http://example.com',
      'https:/example.com',
      'https:example.com',
      'https://',
      'https:///x',
    ]
    const unclean = ['/\t/evil', '/\n/evil', '\t/a', '/a\u0000', '/\ud83d', ' /a', 'https://a b']
    await expectRefused(
      'link',
      ['', 'a', `${fitting}x`, 1, ...dangerous, ...insecure, ...unclean],
      about('link'),
    )
  })

  test('[comms.emit-extras] data is any JSON of at most 16 KiB, as it was sent', async () => {
    for (const data of [
      0,
      '',
      false,
      [],
      {},
      [[1]],
      'ü'.repeat(8_191),
      'x'.repeat(16_382),
      { a: { b: [null] } },
    ])
      expect(JSON.parse(String((await kept({ data }))?.data))).toEqual(data)
    expect((await kept({ data: null }))?.data).toBeNull()
    const tooLong = 'data must be at most 16384 bytes when serialized as JSON'
    await expectRefused('data', ['x'.repeat(16_383), 'ü'.repeat(8_192), { a: 'x'.repeat(16_380) }], tooLong)
  })

  test('[comms.emit-extras] data is nested at most 64 levels deep, however deep a body is', async () => {
    const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
    await expectAccepted('data', [nested(64), { a: nested(63) }])
    const tooDeep = 'data must not be nested deeper than 64 levels'
    await expectRefused('data', [nested(65), { a: nested(64) }], tooDeep)
    const body = `{"application_id":"${project.applicationId}","tenant_id":"${project.tenantId}","data":${'['.repeat(60_000)}${']'.repeat(60_000)}}`
    for (const path of ['emit', 'publish']) {
      const answer = await rawCall(service.url, {
        method: 'POST',
        path: `/api/machine/comms/${path}`,
        headers: [
          ['authorization', `Bearer ${token}`],
          ['content-type', 'application/json'],
        ],
        body,
      })
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([400, { error: tooDeep }])
    }
  })

  test('an expiry is an RFC 3339 time in the future by the clock of the database', async () => {
    await expectAccepted('expires_at', [
      '2099-01-01T00:00:00Z',
      '2099-12-31t23:59:59.999999999+14:00',
      '9999-12-31T23:59:59Z',
      null,
    ])
    await expectRefused(
      'expires_at',
      ['2099-01-01', '2099-02-30T00:00:00Z', '2099-01-01T00:00:00', 'tomorrow', ''],
      about('expires_at'),
    )
    await expectRefused('expires_at', [1, {}], about('expires_at'))
    const past = [new Date(Date.now() - 1_000).toISOString(), '0001-01-01T00:00:00Z']
    await expectRefused('expires_at', past, 'expires_at must be in the future')
  })

  test('fields that are not known are ignored, as on other routes of machines', async () => {
    expect(await send({ nothing: 1, notification_id: 'x' })).toMatchObject({ status: 202 })
  })

  test('a body of more than 128 KiB is refused', async () => {
    expect(await send({ nothing: 'x'.repeat(131_072) })).toMatchObject({ status: 413 })
  })
})

describe('live data', () => {
  test('[comms.publish] is answered 202 with nothing but that it is published, without anybody to hear it', async () => {
    const answer = await live({ topic: 'orders', data: { count: 3 } })
    expect([answer.status, answer.body]).toEqual([202, { published: true }])
  })

  test('[comms.publish-fields] a topic has at most 100 characters, data at most 16 KiB', async () => {
    for (const body of [
      {},
      { topic: null },
      { topic: '' },
      { topic: '🙂'.repeat(100) },
      { data: 'x'.repeat(16_382) },
    ])
      expect(await live(body)).toMatchObject({ status: 202 })
    for (const topic of ['x'.repeat(101), 'a\u0000', '\ud83d', 1, []])
      expect(await live({ topic })).toMatchObject({ status: 400, body: { error: about('topic') } })
    expect(await live({ data: 'x'.repeat(16_383) })).toMatchObject({
      status: 400,
      body: { error: about('data') },
    })
  })

  test('[comms.publish-fields] is never stored', async () => {
    service.statements.length = 0
    await live({ topic: 'orders', data: 'secret' })
    expect(service.statements).toHaveLength(2)
    expect(service.statements.join()).not.toMatch(/insert|update|delete/)
  })
})
