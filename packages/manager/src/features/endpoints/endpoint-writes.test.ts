// These tests cover creating and updating endpoints: defaults, limits, null and absent fields, and conflicts.
// endpoint-secrets.test.ts covers passwords and tokens.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { endpointCalls, seedEndpoint } from '../../../test/kit/endpoints.ts'
import { expectRefused, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

type Input = Record<string, unknown>

let applicationId: string

const { service, admin, project } = useProject()
beforeAll(async () => {
  applicationId = project.applicationId
})

const { create, update, remove, list, get, auditOf } = endpointCalls(() => service)

let paths = 0
/** Returns valid input with a unique path. */
const fine = (more: Input = {}): Input => ({ name: 'Orders', consumeURL: `/orders-${++paths}`, ...more })
const full = {
  name: 'Orders',
  description: 'Orders of the shop',
  enabled: false,
  url: 'https://partner.example/orders',
  authType: 'Basic',
  authUsername: 'shop',
  inputMessageType: 'JSON',
  outputMessageType: 'SOAP',
  transformationTemplate: 'a template',
  logLevel: 'FULL',
}
const made = async (input: Input = {}): Promise<Input & { id: string }> => {
  const { data, error } = await create(admin, applicationId, fine(input))
  expect(error).toBeNull()
  return data.row as Input & { id: string }
}
const counts = async (): Promise<unknown> => {
  const { rows } = await service.sql.query(
    'select (select count(*) from endpoints) as endpoints, (select count(*) from audit_logs) as audited',
  )
  return rows
}
/** Checks that each value of the field is rejected with this message, on create and update, without side effects. */
async function expectRefusals(field: string, said: string, values: readonly unknown[]): Promise<void> {
  const present = await made(full)
  const before = await counts()
  for (const value of values)
    for (const answer of [
      await create(admin, applicationId, fine({ [field]: value })),
      await update(admin, present.id, { [field]: value }),
    ]) {
      expect([value, answer.error]).toEqual([value, said])
      expectRefused(answer, 'bad_request')
    }
  expect(await counts()).toEqual(before)
  expect((await get(admin, applicationId, present.id)).data.row).toEqual(present)
}
/** Checks that each value of the field is stored unchanged, on create and update. */
async function expectStored(field: string, values: readonly unknown[]): Promise<void> {
  for (const value of values) {
    const { id, ...row } = await made({ [field]: value })
    expect(row[field]).toBe(value)
    await remove(admin, id)
    const other = await made()
    expect((await update(admin, other.id, { [field]: value })).data.row).toEqual({ ...other, [field]: value })
    expect((await get(admin, applicationId, other.id)).data.row[field]).toBe(value)
    await remove(admin, other.id)
  }
}

describe('defaults', () => {
  test('[endpoints.auth-type] [endpoints.log-level] [endpoints.message-types] [endpoints.url] what is absent or null has its default', async () => {
    const nulls = Object.fromEntries(
      [...Object.keys(full), 'authPassword', 'authToken'].map((f) => [f, null]),
    )
    for (const input of [fine(), fine({ ...nulls, name: 'Orders' })])
      expect((await create(admin, applicationId, input)).data.row).toEqual({
        id: uuid,
        name: 'Orders',
        consumeURL: input['consumeURL'],
        description: '',
        enabled: true,
        url: null,
        authType: 'None',
        authUsername: '',
        authPassword: null,
        authToken: null,
        inputMessageType: null,
        outputMessageType: null,
        transformationTemplate: '',
        logLevel: 'BASIC',
      })
  })

  test('[endpoints.name] [endpoints.consume-url] name and consumeURL are required', async () => {
    for (const input of [{}, { name: 'x' }, { consumeURL: '/x' }, { name: null, consumeURL: '/x' }]) {
      const answer = await create(admin, applicationId, input)
      expect([answer.status, answer.data]).toEqual([400, null])
    }
  })
})

describe('limits', () => {
  test('[endpoints.name] a name has 1 to 100 characters and is not blank', async () => {
    await expectStored('name', ['x', 'x'.repeat(100), '🙂'.repeat(100), ' padded '])
    const said = 'name must have 1 to 100 characters'
    await expectRefusals('name', said, ['', ' ', 'x'.repeat(101), '🙂'.repeat(101)])
    const broken = 'name must not contain control characters or malformed Unicode'
    await expectRefusals('name', broken, ['a\0b', 'a\u001bb', 'a\ud83db'])
  })

  test('[endpoints.consume-url] consumeURL is a rooted path of at most 500 characters', async () => {
    await expectStored('consumeURL', ['/', '/v1/orders/', `/${'a'.repeat(499)}`])
    const rooted =
      'consumeURL must be a path that starts with a single /, such as /orders; it must not be an absolute URL'
    await expectRefusals('consumeURL', rooted, ['', 'orders', 'https://partner.example/orders', '//orders'])
    await expectRefusals('consumeURL', 'consumeURL must have at most 500 characters', [`/${'a'.repeat(500)}`])
    await expectRefusals('consumeURL', 'consumeURL must not contain ..', ['/a/../b', '/..'])
    await expectRefusals('consumeURL', 'consumeURL must not contain whitespace', ['/a b', '/a\n', '/\u00a0'])
    await expectRefusals('consumeURL', 'consumeURL is a path: it must not contain ?, # or a backslash', [
      '/a?b',
      '/a#b',
      '/a\\b',
    ])
    const ascii = 'consumeURL must contain only ASCII characters; encode other characters as %XX'
    await expectRefusals('consumeURL', ascii, ['/ü', '/a\0b'])
  })

  test('[endpoints.url] url is an absolute http or https URL with a host, of at most 500 characters', async () => {
    const start = 'https://partner.example/'
    await expectStored('url', ['http://10.0.0.1:8080/orders?a=b', start + 'a'.repeat(500 - start.length)])
    const absolute =
      'url must be an absolute http or https URL with a host, such as https://partner.example/orders'
    await expectRefusals('url', absolute, [
      '/orders',
      'partner.example',
      'ftp://partner.example/',
      'https://',
    ])
    const tooLong = 'url must have at most 500 characters'
    await expectRefusals('url', tooLong, [start + 'a'.repeat(501 - start.length)])
    const credentials =
      'url must not contain a user name or password; use authType, authUsername and authPassword'
    await expectRefusals('url', credentials, ['https://user:password@partner.example/'])
  })

  test('[endpoints.fields] description and authUsername have a limited length', async () => {
    for (const [field, limit] of [
      ['description', 2_000],
      ['authUsername', 200],
    ] as const) {
      await expectStored(field, ['', 'x'.repeat(limit), '🙂'.repeat(limit)])
      const said = `${field} must have at most ${limit} characters`
      await expectRefusals(field, said, ['x'.repeat(limit + 1)])
      const broken = `${field} must not contain control characters or malformed Unicode`
      await expectRefusals(field, broken, ['a\0b', 'a\ude42'])
    }
    await expectStored('description', ['two\nlines\tand a tab'])
  })

  test('[endpoints.name] [endpoints.consume-url] [endpoints.url] the database holds the rules too', async () => {
    const id = await seedEndpoint(service.sql, project)
    for (const [column, value] of [
      ['name', ''],
      ['name', 'x'.repeat(101)],
      ['consume_url', 'orders'],
      ['consume_url', '/a b'],
      ['consume_url', '/a\n'],
      ['consume_url', `/${'a'.repeat(500)}`],
      ['url', 'x'.repeat(501)],
      ['auth_type', 'Digest'],
      ['input_message_type', 'CSV'],
      ['output_message_type', 'CSV'],
      ['log_level', 'DEBUG'],
    ] as const)
      await expect(
        service.sql.query(`update endpoints set ${column} = $1 where id = $2`, [value, id]),
      ).rejects.toMatchObject({ code: '23514' })
  })
})

describe('changing', () => {
  test('[endpoints.mutations] a change of one field leaves the others', async () => {
    const { id, ...row } = await made()
    const expected: Input = { ...row }
    for (const [field, value] of Object.entries({ ...full, consumeURL: '/changed-one-by-one' })) {
      expected[field] = value
      expect((await update(admin, id, { [field]: value })).data.row).toEqual({ id, ...expected })
    }
    expect((await get(admin, applicationId, id)).data.row).toEqual({ id, ...expected })
  })

  test('[endpoints.mutations] absent keeps everything; null empties url, message types and template, and keeps the rest', async () => {
    const row = await made(full)
    expect((await update(admin, row.id, {})).data.row).toEqual(row)
    const emptied = {
      ...row,
      url: null,
      inputMessageType: null,
      outputMessageType: null,
      transformationTemplate: '',
    }
    const expected: Input = { ...row }
    for (const field of Object.keys({ ...full, consumeURL: '' })) {
      expected[field] = emptied[field as keyof typeof emptied]
      expect((await update(admin, row.id, { [field]: null })).data.row).toEqual(expected)
    }
    expect(expected).toEqual(emptied)
  })

  test('[endpoints.mutations] [endpoints.url] an empty text empties what may be empty', async () => {
    for (const [field, emptied] of [
      ['description', ''],
      ['url', null],
      ['authUsername', ''],
      ['transformationTemplate', ''],
    ] as const) {
      const row = await made(full)
      expect((await update(admin, row.id, { [field]: '' })).data.row).toEqual({ ...row, [field]: emptied })
    }
    expect((await made({ url: '' }))['url']).toBeNull()
  })

  test('[endpoints.mutations] changes of different fields that race are all kept', async () => {
    const { id, ...row } = await made()
    const answers = await Promise.all(
      Object.entries(full).map(([field, value]) => update(admin, id, { [field]: value })),
    )
    expect(answers.map(({ error }) => error)).toEqual(answers.map(() => null))
    expect((await get(admin, applicationId, id)).data.row).toEqual({ id, ...row, ...full })
    expect(await auditOf(id)).toHaveLength(1 + answers.length)
  })

  test('[endpoints.mutations] a change is seen in updatedAt, and createdAt stays', async () => {
    const { id } = await made()
    const times = async () => {
      const { data } = await service.query(
        admin,
        `{ row: endpoint(application: "${applicationId}", id: "${id}") { createdAt updatedAt } }`,
      )
      return data.row as { createdAt: string; updatedAt: string }
    }
    await service.sql.query(
      "update endpoints set created_at = '2020-01-01T00:00:00Z', updated_at = '2020-01-01T00:00:00Z' where id = $1",
      [id],
    )
    await update(admin, id, { name: 'changed' })
    const { createdAt, updatedAt } = await times()
    expect(createdAt).toBe('2020-01-01T00:00:00.000Z')
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse('2024-01-01T00:00:00Z'))
  })
})

describe('one consumeURL in an application', () => {
  const taken = 'the application already has an endpoint with this consumeURL'

  test('[endpoints.consume-url-unique] a second one is refused, when making and when changing; another application may have it', async () => {
    const first = await made({ consumeURL: '/unique' })
    const second = await made({ consumeURL: '/unique/other' })
    const before = await counts()
    for (const answer of [
      await create(admin, applicationId, fine({ consumeURL: '/unique' })),
      await update(admin, second.id, { consumeURL: '/unique', name: 'renamed' }),
    ]) {
      expect(answer.error).toBe(taken)
      expectRefused(answer, 'conflict')
    }
    expect(await counts()).toEqual(before)
    expect((await get(admin, applicationId, second.id)).data.row).toEqual(second)
    // An endpoint does not conflict with itself or with a different spelling of its path, because paths are
    // compared exactly.
    expect((await update(admin, first.id, { consumeURL: '/unique' })).error).toBeNull()
    for (const consumeURL of ['/Unique', '/unique/', '/uniqu%65']) await made({ consumeURL })
    const other = await seedProject(service.sql, 'other')
    const there = await create(admin, other.applicationId, fine({ consumeURL: '/unique' }))
    expect(there.error).toBeNull()
    await remove(admin, first.id)
    expect((await create(admin, applicationId, fine({ consumeURL: '/unique' }))).error).toBeNull()
  })

  test('[endpoints.consume-url-unique] of five that are made at once, one is', async () => {
    const own = await seedProject(service.sql, 'raced')
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => create(admin, own.applicationId, { name: 'x', consumeURL: '/raced' })),
    )
    const refused = answers.filter(({ error }) => error !== null)
    expect(refused.map(({ error }) => error)).toEqual([taken, taken, taken, taken])
    const stored = (await list(admin, own.applicationId)).data.rows as unknown[]
    expect(stored).toEqual([answers.find(({ error }) => error === null)?.data.row])
  })
})

test('[endpoints.mutations] the database refuses an endpoint whose application is of another project', async () => {
  const other = await seedProject(service.sql, 'stranger')
  const mixed = { id: other.id, applicationId: project.applicationId }
  await expect(seedEndpoint(service.sql, mixed)).rejects.toMatchObject({ code: '23503' })
  const id = await seedEndpoint(service.sql, project)
  for (const [column, value] of [
    ['project_id', other.id],
    ['application_id', other.applicationId],
    ['application_id', randomUUID()],
  ])
    await expect(
      service.sql.query(`update endpoints set ${column} = $1 where id = $2`, [value, id]),
    ).rejects.toMatchObject({ code: '23503' })
})
