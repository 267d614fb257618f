import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startTestApp } from '../../../test/kit/app.ts'
import {
  type StoredBackend,
  backdateHeartbeat,
  callbackUrl,
  heartbeat,
  register,
  readStoredBackend,
  unregister,
} from '@manager/harness/backends.ts'
import { bearer } from '@manager/harness/credentials.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { sealedColumns } from '../../app.ts'
import { rewrapAll } from '../../platform/secrets/sealed-columns.ts'
import { createSecrets, readSealingKeyId } from '../../platform/secrets/secrets.ts'
import { getSigningSecretLocation, getTokenLocation } from './sealed-secrets.pure.ts'
import { createEncryptionRing } from '../../platform/secrets/keys.ts'

const { service, project, other } = useProject({ withOther: true })

const foreign = 'Application not found or does not belong to your project'
const machine = () => seedMachineUser(service.sql, project)
const body = (more: object = {}) => ({
  application_id: project.applicationId,
  callback_url: callbackUrl,
  ...more,
})
const stored = (id: string) => readStoredBackend(service, id)
const countOf = async (machineUserId: string): Promise<number | null> =>
  (await service.sql.query('select from backend_registrations where machine_user_id = $1', [machineUserId]))
    .rowCount
const auditOf = async (id: string) =>
  (
    await service.sql.query(
      `select action, changes, metadata, principal_type, principal_id, user_id, audit_logs::text as everything
       from audit_logs where entity_id = $1 order by seq`,
      [id],
    )
  ).rows

describe('POST /api/machine/register-backend', () => {
  test('[backends.register-new] a first registration answers 201 with everything a backend needs', async () => {
    const { id: machineUserId, token } = await machine()
    const { status, body: answer, headers } = await register(service, token, body({ version: '1.2.3' }))
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store'])
    expect(answer).toEqual({
      success: true,
      registered_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      token: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      message: 'Backend registered',
      environment_id: project.environmentId,
      application_id: project.applicationId,
    })
    expect(answer.signing_secret).not.toBe(answer.token)
    expect(await stored(answer.registered_id)).toMatchObject({
      application_id: project.applicationId,
      environment_id: project.environmentId,
      machine_user_id: machineUserId,
      callback_url: callbackUrl,
      version: '1.2.3',
    })
  })

  test('[backends.register-again] registering again keeps the id, takes over everything else, and ends the old token', async () => {
    const { id: machineUserId, token } = await machine()
    const first = await register(service, token, body({ version: '1' }))
    const id = first.body.registered_id as string
    await backdateHeartbeat(service, id, '50 seconds')
    const before = await stored(id)
    const again = await register(
      service,
      token,
      body({ callback_url: 'https://other.example.com/', version: '2' }),
    )
    expect([again.status, again.body]).toEqual([
      200,
      {
        ...first.body,
        message: 'Backend registration updated',
        token: expect.stringMatching(/^whsec_/),
        signing_secret: expect.stringMatching(/^whsec_/),
      },
    ])
    for (const secret of ['token', 'signing_secret']) expect(again.body[secret]).not.toBe(first.body[secret])
    const after = await stored(id)
    expect(after).toMatchObject({ callback_url: 'https://other.example.com/', version: '2' })
    expect(Number(after?.last_heartbeat)).toBeGreaterThan(Number(before?.last_heartbeat) + 40_000)
    expect(await countOf(machineUserId)).toBe(1)
    // The row contains the new secrets, which can be decrypted only for this row.
    const secrets = createSecrets(
      createEncryptionRing(service.config.masterKey, service.config.encryptionKeys),
    )
    const open = (column: 'callback_token' | 'signing_secret', row: string) =>
      secrets.open(after?.[column] as Buffer, { table: 'backend_registrations', column, id: row })
    expect(open('callback_token', id)).toBe(again.body.token)
    expect(open('signing_secret', id)).toBe(again.body.signing_secret)
    expect(() => open('callback_token', randomUUID())).toThrow()
    expect(() => open('signing_secret', randomUUID())).toThrow()
  })

  test('two machine users, and two applications, have registrations of their own', async () => {
    const [ann, bob] = [await machine(), await machine()]
    const applicationId = randomUUID()
    await service.sql.query(
      "insert into applications (id, project_id, name, slug) values ($1, $2, 'second', 'second')",
      [applicationId, project.id],
    )
    const answers = [
      await register(service, ann.token, body()),
      await register(service, bob.token, body()),
      await register(service, ann.token, body({ application_id: applicationId.toUpperCase() })),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(answers.map((answer) => answer.body.registered_id)).size).toBe(3)
    expect(answers[2]?.body.application_id).toBe(applicationId)
  })

  test.each([
    ['nothing', undefined, 'application_id must be a UUID'],
    ['a text as application', { application_id: 'shop' }, 'application_id must be a UUID'],
    ['a number as application', { application_id: 7 }, 'application_id must be a UUID'],
    ['no URL', { callback_url: undefined }, 'callback_url must be an absolute http or https URL'],
    ['a number as URL', { callback_url: 7 }, 'callback_url must be an absolute http or https URL'],
    ['a long version', { version: 'v'.repeat(101) }, 'version must have at most 100 characters'],
    ['a number as version', { version: 2 }, 'version must be a string'],
    [
      'a version that cannot be stored',
      { version: 'a\0b' },
      'version must not contain control characters or malformed Unicode',
    ],
    // The body format is validated first, then the URL, then the application.
    ['a wrong shape and a wrong URL', { callback_url: 'x', version: 2 }, 'version must be a string'],
    [
      'a wrong URL and no application',
      { application_id: randomUUID(), callback_url: 'x' },
      'Invalid callback_url',
    ],
  ])('[backends.register-request] %s is answered 400', async (_name, change, message) => {
    const { id, token } = await machine()
    const sent = change === undefined ? {} : body(change)
    const answer = await register(service, token, sent)
    expect([answer.status, answer.body.message]).toEqual([400, message])
    expect(await countOf(id)).toBe(0)
  })

  test('[backends.register-request] the version may be left out or null, and has up to 100 characters', async () => {
    const { token } = await machine()
    const versionOf = async (version?: string | null) =>
      (await stored((await register(service, token, body({ version }))).body.registered_id))?.version
    expect(await versionOf()).toBe('')
    expect(await versionOf(null)).toBe('')
    expect(await versionOf('é'.repeat(100))).toBe('é'.repeat(100))
  })

  test('[backends.application-foreign] an application of another project, or of none, is answered 404', async () => {
    const { token } = await machine()
    for (const application_id of [other.applicationId, randomUUID()]) {
      const answer = await register(service, token, body({ application_id }))
      expect([answer.status, answer.body]).toEqual([
        404,
        {
          success: false,
          message: foreign,
          code: 'not_found',
          request_id: answer.headers.get('x-request-id'),
        },
      ])
    }
  })

  test('[backends.durable] a registration outlives the process that made it', async () => {
    const { token } = await machine()
    const first = await startTestApp({ database: service.database })
    const { body: answer } = await register(first, token, body())
    await first.close()
    const second = await startTestApp({ database: service.database })
    expect((await heartbeat(second, token, answer.registered_id)).status).toBe(200)
    expect((await register(second, token, body())).body.registered_id).toBe(answer.registered_id)
    await second.close()
  })
})

describe('DELETE /api/machine/backend/:id', () => {
  test('[backends.unregister] ends the registration; a second time it is gone', async () => {
    const { token } = await machine()
    const { registered_id: id } = (await register(service, token, body())).body
    const answer = await unregister(service, token, id)
    expect([answer.status, answer.body]).toEqual([200, { success: true, message: 'Backend unregistered' }])
    expect(await stored(id)).toBeUndefined()
    for (const gone of [id, randomUUID(), 'no-uuid']) {
      const again = await unregister(service, token, gone)
      expect([gone, again.status, again.body.message]).toEqual([gone, 404, 'Backend registration not found'])
    }
    expect((await heartbeat(service, token, id)).status).toBe(404)
    const anew = await register(service, token, body())
    expect([anew.status, anew.body.registered_id === id]).toEqual([201, false])
  })

  test("[backends.unregister] another machine user's registration is answered 403 and stays", async () => {
    const [ann, bob] = [await machine(), await machine()]
    const { registered_id: id } = (await register(service, ann.token, body())).body
    const answer = await unregister(service, bob.token, id)
    expect([answer.status, answer.body]).toMatchObject([
      403,
      { success: false, message: 'The backend registration belongs to another machine user' },
    ])
    expect(await stored(id)).toBeDefined()
  })
})

test('[backends.envelope] errors of the four routes have success and message, those of authentication an error too', async () => {
  const { token } = await machine()
  const routes: [string, string][] = [
    ['POST', '/register-backend'],
    ['PUT', '/backend/x/heartbeat'],
    ['DELETE', '/backend/x'],
    ['GET', '/application/x/tenants'],
  ]
  for (const [method, path] of routes) {
    const send = async (headers: Record<string, string>) => {
      const response = await fetch(`${service.url}/api/machine${path}`, { method, headers })
      return { status: response.status, body: await response.json() }
    }
    const failed = await send(bearer(token))
    expect([path, failed.status]).toEqual([path, method === 'POST' ? 400 : 404])
    expect(Object.keys(failed.body).toSorted()).toEqual(['code', 'message', 'request_id', 'success'])
    expect(failed.body.success).toBe(false)
    const refused = await send({})
    expect([path, refused.status]).toEqual([path, 401])
    expect(Object.keys(refused.body).toSorted()).toEqual([
      'code',
      'error',
      'message',
      'request_id',
      'success',
    ])
    expect(refused.body).toMatchObject({ success: false, message: refused.body.error })
  }
})

test('where no body is expected, one is ignored, whatever its Content-Type says, up to its limit', async () => {
  const { token } = await machine()
  const { registered_id: id } = (await register(service, token, body())).body
  const send = (type: string | null, content?: string) => {
    const headers = { ...bearer(token), ...(type === null ? {} : { 'content-type': type }) }
    const path = `/api/machine/backend/${id}/heartbeat`
    // Without a Content-Length header, an empty body is sent chunked.
    return rawCall(service.url, {
      method: 'PUT',
      path,
      headers: Object.entries(headers),
      ...(content === undefined ? {} : { body: content }),
    })
  }
  const json = 'application/json'
  for (const [type, content] of [
    [null],
    [null, ''],
    [json],
    [json, ''],
    [json, '{'],
    ['text/plain', 'x'],
  ] as const)
    expect([type, content, (await send(type, content)).status]).toEqual([type, content, 200])
  const large = await send(json, 'x'.repeat(20_000))
  expect([large.status, JSON.parse(large.body)]).toMatchObject([413, { success: false }])
})

test('a change of keys finds the stored tokens', async () => {
  const { token } = await machine()
  const {
    registered_id: id,
    token: callbackToken,
    signing_secret,
  } = (await register(service, token, body())).body
  const { masterKey } = service.config
  const next = createSecrets(createEncryptionRing(masterKey, new Map([['next', Buffer.alloc(32, 9)]])))
  await rewrapAll(service.world.database.db, sealedColumns, next, () => undefined)
  const { callback_token: sealed, signing_secret: sealedSecret } = (await stored(id)) as StoredBackend
  expect([readSealingKeyId(sealed), next.open(sealed, getTokenLocation(id))]).toEqual(['next', callbackToken])
  expect(next.open(sealedSecret as Buffer, getSigningSecretLocation(id))).toBe(signing_secret)
  const former = createSecrets(createEncryptionRing(masterKey, undefined))
  expect(() => former.open(sealed, getTokenLocation(id))).toThrow('not in the ring')
  // The service under test does not have the new key, so the registration must be rolled back.
  await unregister(service, token, id)
})

describe('the audit trail', () => {
  test('has a row for a new registration, for another URL and for the end, and none for a restart or a heartbeat', async () => {
    const { id: machineUserId, token } = await machine()
    const secretPath = 'https://backend.example.com/hooks/s3cret?key=s3cret'
    const first = await register(service, token, body({ callback_url: secretPath }))
    const id = first.body.registered_id as string
    await register(service, token, body({ callback_url: secretPath, version: '2' }))
    await heartbeat(service, token, id)
    await register(service, token, body({ callback_url: 'https://elsewhere.example.com/' }))
    await unregister(service, token, id)
    const rows = await auditOf(id)
    expect(rows.map(({ action }) => action)).toEqual(['create', 'update', 'delete'])
    expect(rows[1]).toMatchObject({
      changes: {
        callbackOrigin: { before: 'https://backend.example.com', after: 'https://elsewhere.example.com' },
        callbackToken: { before: '[secret]', after: '[secret]' },
      },
      metadata: { callback_url_changed: true },
    })
    for (const row of rows) {
      expect([row.principal_type, row.principal_id, row.user_id]).toEqual([
        'machine_user',
        machineUserId,
        null,
      ])
      expect(row.everything).not.toMatch(/whsec_|s3cret/)
    }
  })

  test('neither the log nor an error shows a token or a path', async () => {
    const { token } = await machine()
    const { body: answer } = await register(
      service,
      token,
      body({ callback_url: 'https://a.example.com/s3cret' }),
    )
    await register(service, token, body({ callback_url: 'http://127.0.0.1/s3cret' }))
    const lines = JSON.stringify(service.logLines)
    expect(lines).toContain('/api/machine/register-backend')
    for (const secret of [answer.token, token, 's3cret']) expect(lines).not.toContain(secret)
  })
})

describe('a machine user that ends while it registers', () => {
  test.each([
    ['is disabled', 'update machine_users set enabled = false where id = $1'],
    ['is deleted', 'delete from machine_users where id = $1'],
    [
      'gets another machine token',
      `update machine_users set username = 'Bearer:rotated1', token_prefix = 'rotated1', token_hash = sha256('rotated')
       where id = $1`,
    ],
  ])('and %s gets no callback token', async (_name, text) => {
    const { id, token } = await machine()
    const { status, body: refused } = await whileLocked(
      service.database.url,
      [text, [id]],
      async (commit) => {
        const answer = register(service, token, body())
        await waitForLockWait(service.sql)
        await commit()
        return answer
      },
    )
    expect([status, refused.message]).toEqual([401, 'Invalid token: it belongs to no enabled machine user'])
    expect(await countOf(id)).toBe(0)
  })

  test('takes its registrations with it when it is deleted, and so does an application', async () => {
    const [ann, bob] = [await machine(), await machine()]
    const applicationId = randomUUID()
    await service.sql.query(
      "insert into applications (id, project_id, name, slug) values ($1, $2, 'brief', 'brief')",
      [applicationId, project.id],
    )
    await register(service, ann.token, body())
    await register(service, bob.token, body({ application_id: applicationId }))
    await service.sql.query('delete from machine_users where id = $1', [ann.id])
    await service.sql.query('delete from applications where id = $1', [applicationId])
    expect([await countOf(ann.id), await countOf(bob.id)]).toEqual([0, 0])
  })
})

test('registrations of one machine user wait for each other without a connection, and too many are refused', async () => {
  const { id, token } = await machine()
  const answers = await whileLocked(
    service.database.url,
    ['select from machine_users where id = $1 for update', [id]],
    async (commit) => {
      const all = Array.from({ length: 210 }, () => register(service, token, body()))
      await waitForLockWait(service.sql)
      const { rows } = await service.sql.query(
        `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      expect(rows).toEqual([{ waiting: 1 }])
      await expect.poll(() => service.logLines.filter(({ status }) => status === '503').length).toBe(9)
      await commit()
      return Promise.all(all)
    },
  )
  const statuses = Map.groupBy(answers, ({ status }) => status)
  expect([200, 201, 503].map((status) => statuses.get(status)?.length)).toEqual([200, 1, 9])
  expect(statuses.get(503)?.[0]?.body).toMatchObject({
    success: false,
    message: 'too many concurrent registrations; try again',
  })
})
