// These tests cover POST /api/validate-oauth-user and GET /api/proxy/user/:user_id/tenants, for people whom the proxy
// has signed in.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { call, throughProxy } from '@manager/harness/credentials.ts'
import { rawCall } from '../../../test/kit/http.ts'
import { freshClient } from '../../../test/kit/machines.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMember, seedProject, seedTenant, seedUser } from '@manager/harness/seed.ts'

const path = '/api/validate-oauth-user'

const { service, admin, project, member } = useProject()

// Every request uses a new client, because malformed requests block a client.
const ask = (fields: Record<string, unknown>) =>
  call(service.url, path, throughProxy(freshClient()), { application_id: project.applicationId, ...fields })
/** Returns the row of a user, or null. */
const stored = async (id: string) =>
  (
    await service.sql.query(
      'select external_name as name, external_email as email, external_username as username, role from users where id = $1',
      [id],
    )
  ).rows[0] ?? null
const countUsers = async (): Promise<number> =>
  (await service.sql.query<{ count: number }>('select count(*)::int as count from users')).rows[0]?.count ?? 0
const noAccess = { has_access: false, role: null, available_tenants: [] }

describe('validating a person the proxy has signed in', () => {
  test('[proxy-auth.oauth] [proxy-auth.success] answers like a token does, but for is_personal_token, and nothing else', async () => {
    const person = await member('anna', 'readonly')
    const answer = await ask({ user_id: person.id, email: person.email, name: person.name })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      valid: true,
      user: {
        id: person.id,
        email: 'anna@example.com',
        name: 'anna',
        username: 'anna@example.com',
        is_machine_user: false,
        is_personal_token: false,
      },
      tenant: { id: project.tenantId, name: 'main-tenant' },
      application: {
        has_access: true,
        role: 'readonly',
        available_tenants: [{ id: project.tenantId, name: 'main-tenant' }],
      },
    })
  })

  test('[proxy-auth.oauth-provisions] [proxy-auth.no-access] a subject not seen before becomes a user who has access to nothing', async () => {
    const id = randomUUID()
    const answer = await ask({ user_id: id.toUpperCase(), email: 'new@example.com', name: 'New Person' })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        valid: true,
        user: {
          id,
          email: 'new@example.com',
          name: 'New Person',
          username: 'new@example.com',
          is_machine_user: false,
          is_personal_token: false,
        },
        tenant: null,
        application: noAccess,
      },
    ])
    expect(await stored(id)).toEqual({
      name: 'New Person',
      email: 'new@example.com',
      username: 'new@example.com',
      role: 'user',
    })
    const { data } = await service.query(
      admin,
      'query($id: String!) { users(filters: {field: "id", value: $id}) { id externalName externalEmail role } }',
      { id },
    )
    expect(data.users).toEqual([
      { id, externalName: 'New Person', externalEmail: 'new@example.com', role: 'user' },
    ])
  })

  test('[proxy-auth.oauth-provisions] the subject is the one that X-Token-Subject carries', async () => {
    const id = randomUUID()
    await ask({ user_id: id, email: 'same@example.com', name: 'Same' })
    const { data } = await service.query({ id }, '{ me { id externalName externalEmail } }')
    expect(data.me).toEqual({ id, externalName: 'Same', externalEmail: 'same@example.com' })
  })

  test('[proxy-auth.oauth-provisions] many first sights at once make one user, and all are answered', async () => {
    const [id, before] = [randomUUID(), await countUsers()]
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask({ user_id: id, email: 'rush@example.com', name: 'Rush' })),
    )
    expect(answers.map(({ status, body }) => [status, body.user?.id])).toEqual(answers.map(() => [200, id]))
    expect(await countUsers()).toBe(before + 1)
  })

  test('[proxy-auth.oauth-provisions] name and e-mail follow the request, in the answer and in the row; access is answered in the same call', async () => {
    const person = await member('bea', 'tester')
    const { body } = await ask({ user_id: person.id, email: ' bea@new.example ', name: 'Bea Änders' })
    expect(body.user).toMatchObject({
      email: 'bea@new.example',
      name: 'Bea Änders',
      username: 'bea@new.example',
    })
    expect(body.application).toMatchObject({ has_access: true, role: 'normal' })
    expect(await stored(person.id)).toMatchObject({
      email: 'bea@new.example',
      name: 'Bea Änders',
      username: 'bea@new.example',
    })
    expect((await ask({ user_id: person.id, name: 'Bea' })).body.user).toMatchObject({
      name: 'Bea',
      email: 'bea@new.example',
    })
    expect((await ask({ user_id: person.id, email: 'b@x' })).body.user).toMatchObject({
      name: 'Bea',
      email: 'b@x',
    })
  })

  test('[proxy-auth.oauth-provisions] an absent, null or empty name or e-mail keeps what is stored', async () => {
    const person = await seedUser(service.sql, 'carl')
    const before = await stored(person.id)
    for (const empty of [undefined, null, '', '  ']) {
      const { status, body } = await ask({ user_id: person.id, email: empty, name: empty })
      expect([status, body.user.name, body.user.email]).toEqual([200, 'carl', 'carl@example.com'])
      expect(await stored(person.id)).toEqual(before)
    }
    const id = randomUUID()
    expect((await ask({ user_id: id })).body.user).toMatchObject({ id, email: '', name: '', username: id })
  })

  test('[proxy-auth.oauth] an unknown application gives no access', async () => {
    const { status, body } = await ask({ user_id: admin.id, application_id: randomUUID() })
    expect([status, body.valid, body.tenant, body.application]).toEqual([200, true, null, noAccess])
  })

  test('[proxy-auth.invalid] a malformed request is answered 400 `{valid:false, message}` and provisions nobody', async () => {
    const before = await countUsers()
    const bad: Record<string, unknown>[] = [
      ...[undefined, null, '', 'anna', 7, [randomUUID()], `${randomUUID()}x`].map((user_id) => ({ user_id })),
      ...[undefined, null, '', 'x', {}].map((application_id) => ({ application_id })),
      ...[7, true, ['a@b'], `${'x'.repeat(310)}@example.com`, 'a\0b'].map((email) => ({ email })),
      ...[7, {}, 'x'.repeat(201), 'a\0b'].map((name) => ({ name })),
    ]
    for (const change of bad) {
      const { status, body } = await ask({ user_id: randomUUID(), ...change })
      // Details name the invalid fields, unless the database finds the problem.
      const fields = Object.keys(body).filter((name) => name !== 'details')
      expect([change, status, body.valid, typeof body.message, fields]).toEqual([
        change,
        400,
        false,
        'string',
        ['valid', 'message', 'code', 'request_id'],
      ])
    }
    expect(await countUsers()).toBe(before)
    const longest = { user_id: randomUUID(), email: `${'x'.repeat(308)}@example.com`, name: 'ö'.repeat(200) }
    expect((await ask(longest)).body.user).toMatchObject({ email: longest.email, name: longest.name })
  })

  test('[proxy-auth.lockout] a client that is locked out is logged with what was malformed, and without its values', async () => {
    const client = freshClient()
    const fields = { application_id: project.applicationId, user_id: 'private-subject' }
    const statuses: number[] = []
    for (let i = 0; i < 12; i++)
      statuses.push((await call(service.url, path, throughProxy(client), fields)).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([400, 429])
    const lines = service.logLines.filter(({ client: of, cause }) => of === client && cause !== undefined)
    expect(lines).toEqual([
      expect.objectContaining({
        msg: 'client blocked from validate-oauth-user after too many malformed requests',
        cause: expect.stringContaining('user_id') as string,
      }),
    ])
    expect(JSON.stringify(lines)).not.toContain('private-subject')
  })

  test('[proxy-auth.invalid] what is no JSON object is answered 400, another content type 415, a body over 16 KiB 413', async () => {
    const good = JSON.stringify({ user_id: admin.id, application_id: project.applicationId })
    const cases: [number, string, string][] = [
      ...['', '{', 'null', '[]', '"x"'].map((body): [number, string, string] => [
        400,
        'application/json',
        body,
      ]),
      [415, 'text/plain', good],
      [413, 'application/json', good.padEnd(16_385)],
      [200, 'application/json', good.padEnd(16_384)],
    ]
    for (const [status, type, body] of cases) {
      const headers: [string, string][] = [
        ['x-proxy-auth', proxySecret],
        ['content-type', type],
      ]
      const answer = await rawCall(service.url, { method: 'POST', path, headers, body })
      expect([answer.status, JSON.parse(answer.body).valid]).toEqual([status, status === 200])
    }
  })

  test('[proxy-auth.request] [proxy-auth.oauth] [tenant-catalog.list] without the secret all these routes answer in the shape of the gate', async () => {
    const id = randomUUID()
    const body = { user_id: id, application_id: project.applicationId, authorization_header: 'Bearer x' }
    for (const headers of [{}, { 'x-proxy-auth': 'wrong' }] as Record<string, string>[])
      for (const answer of [
        await call(service.url, path, headers, body),
        await call(service.url, '/api/validate-proxy-auth', headers, body),
        await call(service.url, '/api/validate-proxy-auth', headers, {}),
        await call(service.url, `/api/proxy/user/${admin.id}/tenants`, headers),
      ]) {
        expect([answer.status, Object.keys(answer.body)]).toEqual([401, ['error', 'code', 'request_id']])
        expect(answer.body.error).toMatch(/^missing or invalid X-Proxy-Auth header/)
      }
    expect(await stored(id)).toBeNull()
  })
})

describe('the tenants a person may choose from', () => {
  let first: SeededProject
  let second: SeededProject
  const tenants: Record<string, { id: string; projectId: string }> = {}
  const name = async (tenantId: string, projectId: string, to: string, mode = 'shared') => {
    await service.sql.query('update tenants set name = $2, deployment_mode = $3 where id = $1', [
      tenantId,
      to,
      mode,
    ])
    tenants[to] = { id: tenantId, projectId }
  }
  const add = async (of: SeededProject, to: string, mode?: string) => {
    const id = randomUUID()
    await seedTenant(service.sql, of.id, id, to)
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values (gen_random_uuid(), $1, $2, 'outsider', '{members}')`,
      [of.id, id],
    )
    await name(id, of.id, to, mode)
  }
  const enable = (tenant: string, of: SeededProject, enabled: boolean) =>
    service.sql.query(
      `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
       values (gen_random_uuid(), $1, $2, $3, $4)`,
      [of.id, tenants[tenant]?.id, of.applicationId, enabled],
    )
  const join = (person: Person, tenant: string, role: string) => {
    const { id, projectId } = tenants[tenant] ?? { id: '', projectId: '' }
    return seedMember(service.sql, person, role, { projectId, tenantId: id })
  }
  const list = (user: string, application?: string) =>
    call(
      service.url,
      `/api/proxy/user/${user}/tenants${application === undefined ? '' : `?application_id=${application}`}`,
      throughProxy(),
    )
  const named = async (user: Person, application?: string): Promise<string[]> => {
    const { status, body } = await list(user.id, application)
    expect(status).toBe(200)
    return body.tenants.map((tenant: { name: string; role: string }) => `${tenant.name} ${tenant.role}`)
  }

  // In the first project, the application is enabled for amber, cedar and elm, and disabled for birch. In the second
  // project, it is enabled for dune, but not for fern.
  beforeAll(async () => {
    first = await seedProject(service.sql, 'first')
    second = await seedProject(service.sql, 'second')
    await name(first.tenantId, first.id, 'elm', 'dedicated')
    await name(second.tenantId, second.id, 'dune')
    for (const tenant of ['cedar', 'birch', 'amber']) await add(first, tenant)
    await add(second, 'fern')
    for (const tenant of ['cedar', 'amber']) await enable(tenant, first, true)
    await enable('birch', first, false)
  })

  test('[tenant-catalog.list] each has its six fields, with the name of the role held in it', async () => {
    const person = await seedUser(service.sql, 'dora')
    await join(person, 'elm', 'member')
    const { status, body } = await list(person.id)
    expect([status, body]).toEqual([
      200,
      {
        tenants: [
          {
            id: tenants['elm']?.id,
            name: 'elm',
            slug: 'first-tenant',
            role: 'member',
            project_id: first.id,
            deployment_mode: 'dedicated',
          },
        ],
      },
    ])
  })

  test('[tenant-catalog.list] those of all projects come by name; one whose role may not use applications is left out', async () => {
    const person = await seedUser(service.sql, 'emil')
    await join(person, 'fern', 'owner')
    await join(person, 'elm', 'member')
    await join(person, 'amber', 'outsider')
    await join(person, 'dune', 'admin')
    await join(person, 'birch', 'member')
    expect(await named(person)).toEqual(['birch member', 'dune admin', 'elm member', 'fern owner'])
    const shouted = await list(person.id.toUpperCase())
    expect(shouted.body.tenants).toHaveLength(4)
  })

  test('[tenant-catalog.list] a member of a project finds all its tenants, with their role in the project where they have none in the tenant', async () => {
    const person = await seedUser(service.sql, 'fritz')
    await seedMember(service.sql, person, 'tester', { projectId: first.id })
    await join(person, 'cedar', 'admin')
    await join(person, 'amber', 'outsider')
    await join(person, 'fern', 'member')
    expect(await named(person)).toEqual([
      'amber tester',
      'birch tester',
      'cedar admin',
      'elm tester',
      'fern member',
    ])
  })

  test('[tenant-catalog.application] an application keeps only tenants it is enabled for', async () => {
    const [member, reader] = [await seedUser(service.sql, 'gerd'), await seedUser(service.sql, 'hanna')]
    for (const tenant of ['elm', 'birch', 'dune', 'fern']) await join(member, tenant, 'member')
    await join(member, 'amber', 'outsider')
    await seedMember(service.sql, reader, 'readonly', { projectId: first.id })
    await join(reader, 'cedar', 'owner')
    expect(await named(member, first.applicationId)).toEqual(['elm member'])
    expect(await named(member, second.applicationId.toUpperCase())).toEqual(['dune member'])
    expect(await named(reader, first.applicationId)).toEqual([
      'amber readonly',
      'cedar owner',
      'elm readonly',
    ])
    expect(await named(reader, second.applicationId)).toEqual([])
  })

  test('[tenant-catalog.application] an administrator finds every tenant of an application, and without one only their own', async () => {
    const root = await seedUser(service.sql, 'root', 'administrator')
    await join(root, 'fern', 'member')
    await join(root, 'cedar', 'member')
    expect(await named(root, first.applicationId)).toEqual([
      'amber administrator',
      'cedar member',
      'elm administrator',
    ])
    expect(await named(root)).toEqual(['cedar member', 'fern member'])
  })

  test('[tenant-catalog.application] a role in the application alone offers no tenant', async () => {
    const person = await seedUser(service.sql, 'ida')
    const { id: projectId, applicationId } = first
    await seedMember(service.sql, person, 'normal', { projectId, applicationId })
    expect(await named(person, applicationId)).toEqual([])
    expect(await named(person)).toEqual([])
  })

  test('[tenant-catalog.unknown-user] an unknown or malformed user, and an unknown or malformed application, find nothing', async () => {
    const person = await seedUser(service.sql, 'jana')
    await join(person, 'elm', 'owner')
    const before = await countUsers()
    for (const [user, application] of [
      [randomUUID()],
      [randomUUID(), first.applicationId],
      ['nobody'],
      [`${person.id}x`],
      ["'%20or%201=1"],
      [person.id, randomUUID()],
      [person.id, 'nothing'],
      [person.id, first.id],
    ] as [string, string?][]) {
      const { status, body } = await list(user, application)
      expect([user, application, status, body]).toEqual([user, application, 200, { tenants: [] }])
    }
    expect(await countUsers()).toBe(before)
    expect(await named(person)).toEqual(['elm owner'])
  })
})
