// These tests cover idempotency keys: repeated emits create one notification and return the same response.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import {
  emit,
  generousLimits,
  targetFields,
  recipientsOf,
  seedTenantMember,
} from '../../../test/kit/comms.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser, seedTenant } from '@manager/harness/seed.ts'
import { formatCanonicalText, readEmitInput } from './emit-input.pure.ts'

const { service, project } = useProject({ env: generousLimits })
let replica: TestApp
let token: string
let reader: string
beforeAll(async () => {
  replica = await startTestApp({ env: generousLimits, database: service.database })
  token = (await seedMachineUser(service.sql, project)).token
  reader = await seedTenantMember(service, project)
})
afterAll(() => replica.close())

type Sent = Record<string, unknown>
const send = (body: Sent, key?: string, app: Pick<TestApp, 'url'> = service) =>
  emit(app, token, { ...targetFields(project), ...body }, key)
const count = async (table = 'notification_recipients'): Promise<number> => {
  const { rows } = await service.sql.query<{ count: number }>(`select count(*)::int as count from ${table}`)
  return rows[0]?.count ?? 0
}
const reused = {
  status: 422,
  body: {
    error: 'the key was already used for a different body in the last 24 hours; send another key',
    code: 'key_reused',
  },
}

describe('an emit with a key', () => {
  test('[comms.idempotency] gets the first answer again and adds nothing, on every replica and whichever way the key is sent', async () => {
    const key = randomUUID()
    const first = await send({ title: 'once' }, key)
    expect(first).toMatchObject({ status: 202, body: { recipient_count: 1 } })
    const [rows, contents] = [await count(), await count('notifications')]
    // A member who joins later receives nothing and is not counted.
    await seedTenantMember(service, project)
    for (const [body, header] of [
      [{ title: 'once' }, key],
      [{ title: 'once', dedupe_key: key }, undefined],
      [{ title: 'once', dedupe_key: key }, key],
    ] as const)
      for (const app of [service, replica]) {
        const again = await send(body, header, app)
        expect([again.status, again.body]).toEqual([202, first.body])
        expect(again.headers.get('x-request-id')).not.toBe(first.body.request_id)
      }
    expect([await count(), await count('notifications')]).toEqual([rows, contents])
    expect(await recipientsOf(service, first.body.notification_id)).toHaveLength(1)
  })

  test('[comms.idempotency] with another body answers 422; the same body in another spelling is the same', async () => {
    const key = randomUUID()
    const other = await seedTenantMember(service, project)
    const body = {
      type: 'a.b',
      title: 't',
      body: 'b',
      severity: 'error',
      link: '/x',
      data: { a: 1, b: { c: [1, 2], d: null } },
      expires_at: '2099-01-01T00:00:00Z',
      recipients: [reader, other],
    }
    const first = await send(body, key)
    const rows = await count()
    const texts = [
      { type: 'a.c' },
      { title: 'x' },
      { title: null },
      { body: 'x' },
      { severity: 'info' },
      { link: '/y' },
    ]
    const data = [{ data: { a: 1 } }, { data: { a: 1, b: { c: [2, 1], d: null } } }, { data: null }]
    const times = [{ expires_at: '2099-01-01T00:00:01Z' }, { expires_at: null }]
    const audiences = [{ recipients: [reader] }, { recipients: undefined }, { roles: ['member'] }]
    for (const change of [...texts, ...data, ...times, ...audiences])
      expect([change, await send({ ...body, ...change }, key)]).toMatchObject([change, reused])
    for (const change of [
      { data: { b: { d: null, c: [1, 2] }, a: 1 } },
      { expires_at: '2099-01-01T01:00:00.000+01:00' },
      { recipients: [other, reader.toUpperCase(), reader] },
      { ignored: 1 },
    ]) {
      const again = await send({ ...body, ...change }, key)
      expect([change, again.status, again.body]).toEqual([change, 202, first.body])
    }
    expect(await count()).toBe(rows)
  })

  test('[comms.idempotency] is another one in another tenant', async () => {
    const [key, tenantId] = [randomUUID(), randomUUID()]
    await seedTenant(service.sql, project.id, tenantId, 'second')
    await service.sql.query(
      'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, true)',
      [randomUUID(), project.id, tenantId, project.applicationId],
    )
    const first = await send({}, key)
    const second = await send({ tenant_id: tenantId }, key)
    expect(second).toMatchObject({ status: 202, body: { recipient_count: 0 } })
    expect(second.body.notification_id).not.toBe(first.body.notification_id)
    expect((await send({ tenant_id: tenantId }, key)).body).toEqual(second.body)
  })

  test('[comms.idempotency] is forgotten after 24 hours', async () => {
    const key = randomUUID()
    const first = await send({}, key)
    const { rows } = await service.sql.query<{ hours: number }>(
      'select extract(epoch from expires_at - now()) / 3600 as hours from notification_keys where key = $1',
      [key],
    )
    expect(Number(rows[0]?.hours)).toBeGreaterThan(23.9)
    expect(Number(rows[0]?.hours)).toBeLessThanOrEqual(24)
    await service.sql.query('update notification_keys set expires_at = now() where key = $1', [key])
    const second = await send({ title: 'another body' }, key)
    expect(second.status).toBe(202)
    expect(second.body.notification_id).not.toBe(first.body.notification_id)
    expect((await send({ title: 'another body' }, key)).body).toEqual(second.body)
    expect(await send({}, key)).toMatchObject(reused)
  })

  test('[comms.idempotency] gets its answer again when the notification has expired meanwhile', async () => {
    const key = randomUUID()
    const body = { expires_at: '2020-01-01T00:00:00Z', recipients: [reader] }
    const answer = { notification_id: randomUUID(), request_id: 'the-first', recipient_count: 1 }
    await service.sql.query(
      `insert into notification_keys (tenant_id, application_id, key, fingerprint, notification_id, request_id,
         recipient_count, expires_at) values ($1, $2, $3, sha256($4::bytea), $5, $6, $7, now() + interval '1 hour')`,
      [
        project.tenantId,
        project.applicationId,
        key,
        formatCanonicalText(readEmitInput(body, key)),
        ...Object.values(answer),
      ],
    )
    const again = await send(body, key)
    expect([again.status, again.body]).toEqual([202, answer])
    expect(await send({ ...body, title: 'x' }, key)).toMatchObject(reused)
    expect(await send(body, randomUUID())).toMatchObject({ status: 400 })
  })

  test('a refused emit leaves its key free', async () => {
    const key = randomUUID()
    expect(await send({ type: '.' }, key)).toMatchObject({ status: 400 })
    expect(await send({ tenant_id: randomUUID() }, key)).toMatchObject({ status: 403 })
    expect(await send({}, key)).toMatchObject({ status: 202 })
  })

  test('a key has 1 to 200 characters and is sent once; two that differ are refused', async () => {
    const about = (name: string) => ({
      status: 400,
      body: { error: `${name} must have 1 to 200 characters, without control characters` },
    })
    expect(await send({}, 'k'.repeat(200))).toMatchObject({ status: 202 })
    expect(await send({ dedupe_key: '🙂'.repeat(200) })).toMatchObject({ status: 202 })
    expect(await send({}, 'k'.repeat(201))).toMatchObject(about('Idempotency-Key'))
    for (const dedupe_key of ['', 'k'.repeat(201), 'a\u0000b', '\ud83d'])
      expect(await send({ dedupe_key })).toMatchObject(about('dedupe_key'))
    expect(await send({ dedupe_key: 'a' }, 'b')).toMatchObject({
      status: 400,
      body: { error: 'Idempotency-Key and dedupe_key differ; send only one of them' },
    })
    const answer = await rawCall(service.url, {
      method: 'POST',
      path: '/api/machine/comms/emit',
      headers: [
        ['authorization', `Bearer ${token}`],
        ['content-type', 'application/json'],
        ['idempotency-key', 'a'],
        ['Idempotency-Key', 'a'],
      ],
      body: JSON.stringify(targetFields(project)),
    })
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      400,
      { error: 'Idempotency-Key is sent more than once' },
    ])
  })

  test('[comms.idempotency] sent 50 times at once to two replicas makes one notification; other bodies get 422', async () => {
    const key = randomUUID()
    const before = await count('notifications')
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        send(
          { title: 'race', ...(n % 3 === 0 ? { roles: ['member'] } : {}) },
          key,
          n % 2 === 0 ? service : replica,
        ),
      ),
    )
    const accepted = answers.filter(({ status }) => status === 202)
    expect(new Set(accepted.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    const refused = answers.filter(({ status }) => status === 422)
    expect(accepted.length + refused.length).toBe(50)
    expect([17, 33]).toContain(accepted.length)
    expect(await count('notifications')).toBe(before + 1)
  })
})
