// Tests permissions: the service refuses to start if an operation has no policy, and the matrix runs every operation
// as every principal.
import { createFeatures, defineFeature } from '../../src/feature.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { seedMember, seedTenant, seedUser } from '@manager/harness/seed.ts'
import { runMatrix } from './matrix.ts'
import { operations } from './operations.ts'
import { createMatrixWorld } from './world.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

describe('policy', () => {
  test('[policy.role-ladder] [policy.readonly-reads] [policy.readonly-reads-more] [policy.below-maintainer-refused] [policy.maintainer-resources] [policy.maintainer-roles] [policy.owner-project] [policy.create-project] [policy.administrator] [policy.audit-logs] [audit-append.every-change] the matrix of operations and principals holds no surprise', async () => {
    const { cases, surprises } = await runMatrix(service)
    process.stdout.write(`authz cases=${cases} surprises=${surprises.length}\n`)
    expect(surprises).toEqual([])
    expect(cases).toBeGreaterThanOrEqual(1_500)
  }, 240_000)

  test('the matrix covers every guarded field of the schema', () => {
    const guarded = service.app.fields.map(({ type, field }) => `${type}.${field}`)
    expect([...new Set(operations.map(({ name }) => name))].toSorted()).toEqual(guarded.toSorted())
  })

  test('the matrix notices a planted missing check, a wrong permission and a wrong scope', async () => {
    const plants: [string, string, string][] = [
      [
        'Mutation.updateTenant',
        '@can(do: TENANT_WRITE, on: "id", in: TENANT)',
        '@can(do: SELF_READ, in: SYSTEM)',
      ],
      [
        'Query.auditLogs',
        '@can(do: AUDIT_READ, on: "projectID", in: PROJECT)',
        '@can(do: PROJECT_READ, on: "projectID", in: PROJECT)',
      ],
      [
        'Query.environment',
        '@can(do: PROJECT_READ, on: "id", in: ENVIRONMENT)',
        '@can(do: PROJECT_LIST, in: SYSTEM)',
      ],
    ]
    for (const [name, right, wrong] of plants) {
      const broken = await startTestApp({
        database: service.database,
        transport: { alterSdl: (sdl) => sdl.replaceAll(right, wrong) },
      })
      const { surprises } = await runMatrix(
        broken,
        operations.filter((operation) => operation.name === name),
      )
      expect([name, surprises.length > 0]).toEqual([name, true])
      await broken.close()
    }
  })

  test('[policy.declared-or-no-boot] a field without @can stops the boot and is named, whichever it is', async () => {
    for (const field of [
      'deleteTenant(id: ID!, expectedRevision: Int): Boolean!',
      'project: Project!',
      'me: User!',
    ]) {
      const alterSdl = (sdl: string): string => {
        const at = sdl.indexOf(field)
        if (at < 0) return sdl
        return sdl.slice(0, at) + sdl.slice(at).replace(/@can\([^)]*\)/, '')
      }
      const name = field.split(/[(:]/)[0] as string
      await expect(startTestApp({ database: service.database, transport: { alterSdl } })).rejects.toThrow(
        new RegExp(`without a policy \\(@can\\):.*\\b${name}`),
      )
    }
  })

  test('[policy.declared-or-no-boot] a REST route without a policy stops the boot and is named', async () => {
    const extend = (server: TestApp['app']['server']): void => {
      server.get('/api/forgotten', () => 'open to all')
    }
    await expect(startTestApp({ database: service.database, transport: { extend } })).rejects.toThrow(
      /routes without a policy.*GET \/api\/forgotten/,
    )
  })

  test('a REST route whose scope no feature knows stops the boot and is named', async () => {
    const policy = { can: { do: 'TENANT_WRITE', on: ['id'], in: 'WIDGET' as 'TENANT' } } as const
    const extend = (server: TestApp['app']['server']): void => {
      server.get('/api/unknown/:id', { config: { policy } }, () => 'open to all')
    }
    await expect(startTestApp({ database: service.database, transport: { extend } })).rejects.toThrow(
      /GET \/api\/unknown\/:id \(no feature defines the scope WIDGET\)/,
    )
  })

  test('a feature cannot take the name of another one, or of what all of them are given', () => {
    const named = (name: string) => defineFeature({ name, create: () => ({ api: {} }) })
    expect(() => createFeatures([named('widgets'), named('widgets')], {})).toThrow(
      'the feature name widgets is already in use',
    )
    expect(() => createFeatures([named('config')], { config: {} })).toThrow(
      'the feature name config is already in use',
    )
    expect(createFeatures([named('widgets'), named('gadgets')], {}).features).toHaveLength(2)
  })

  test('a REST route with a permission lets its holders in and nobody else', async () => {
    const policy = { can: { do: 'TENANT_WRITE', on: ['id'], in: 'TENANT' } } as const
    const guarded = await startTestApp({
      database: service.database,
      transport: {
        extend: (server) => void server.get('/api/try/:id', { config: { policy } }, () => ({ done: true })),
      },
    })
    const { people, own } = await createMatrixWorld(guarded)
    const statusFor = async (person: { id: string }): Promise<number> =>
      (
        await fetch(`${guarded.url}/api/try/${own.tenantId}`, {
          headers: { 'x-proxy-auth': guarded.config.proxySecret as string, 'x-token-subject': person.id },
        })
      ).status
    expect(await statusFor(people.maintainer)).toBe(200)
    expect(await statusFor(people.developer)).toBe(403)
    expect(await statusFor(people.stranger)).toBe(403)
    await guarded.close()
  })

  test('[policy.out-of-reach] an id out of reach answers exactly like an unknown one, in queries and mutations', async () => {
    const { people, other } = await createMatrixWorld(service)
    const unknown = '00000000-0000-7000-8000-00000000dead'
    const texts = [
      ['query($id: ID!) { environment(id: $id) { id } }', other.environmentId],
      ['query($id: ID!) { user2tenants(tenant: $id) { id } }', other.tenantId],
      ['mutation($id: ID!) { deleteTenant(id: $id) }', other.tenantId],
      ['mutation($id: ID!) { updateProject(id: $id, input: {name: "x"}) { id } }', other.id],
      ['mutation($id: ID!) { deleteTenant2Application(id: $id) }', other.tenant2ApplicationId],
    ]
    for (const [text, outOfReach] of texts as [string, string][]) {
      const ask = async (id: string) => {
        const { errors, status } = await service.query(people.owner, text, { id })
        return { status, message: errors[0]?.message, code: errors[0]?.extensions?.code }
      }
      const answer = await ask(outOfReach)
      expect(answer.message).toMatch(/not found$/)
      expect(await ask(unknown)).toEqual(answer)
      expect(await ask('not a uuid')).toEqual(answer)
    }
  })

  test('a mutation sees what the ones before it in the same document changed, rights included', async () => {
    const { people, own } = await createMatrixWorld(service)
    const { rows } = await service.sql.query<{ id: string }>(
      'select id from user2projects where user_id = $1',
      [people.maintainer.id],
    )
    const leave = `removeUserFromProject(id: "${rows[0]?.id}")`
    const rename = (name: string) => `updateTenant(id: "${own.tenantId}", input: {name: "${name}"}) { id }`
    const answer = await service.query(
      people.maintainer,
      `mutation { a: ${rename('before')} b: ${leave} c: ${rename('after')} }`,
    )
    expect(answer.error).toBe('tenant not found')
    const { rows: tenants } = await service.sql.query('select name from tenants where id = $1', [
      own.tenantId,
    ])
    expect(tenants).toEqual([{ name: 'before' }])
    const { administrator } = people
    const stepDown = `updateUserSystemRole(id: "${administrator.id}", role: "user") { id }`
    const fallen = await service.query(
      administrator,
      `mutation { a: ${stepDown} b: createProject(input: {name: "x", slug: "too-late"}) { id } }`,
    )
    expect(fallen.error).toMatch(/^not permitted/)
  })

  test('[policy.visible-refused] what a caller sees but may not change is refused with the role it needs', async () => {
    const { people, own } = await createMatrixWorld(service)
    const answer = await service.query(people.developer, 'mutation($id: ID!) { deleteTenant(id: $id) }', {
      id: own.tenantId,
    })
    expect(answer.error).toBe(
      'not permitted: requires project role maintainer or higher, or system role administrator',
    )
    expect(answer.errors[0]?.extensions?.code).toBe('forbidden')
    const { rowCount } = await service.sql.query('select 1 from tenants where id = $1', [own.tenantId])
    expect(rowCount).toBe(1)
  })

  test('[policy.tenant-apps-read] apps.read, and no other permission of a tenant role, opens the own tenant and its applications', async () => {
    const { people, own } = await createMatrixWorld(service)
    const sibling = '22222222-2222-7222-8222-222222222222'
    await seedTenant(service.sql, own.id, sibling, 'beside')
    const roles = async (name: string, permissions: string[]): Promise<Person> => {
      const made = await service.query(
        people.owner,
        `mutation($t: ID!, $name: String!, $permissions: [String!]!) {
          createTenantRoleDefinition(tenantId: $t, input: {name: $name, permissions: $permissions}) { id } }`,
        { t: own.tenantId, name, permissions },
      )
      expect(made.error).toBeNull()
      const person = await seedUser(service.sql, `${name}-${own.slug}`)
      await seedMember(service.sql, person, name, { projectId: own.id, tenantId: own.tenantId })
      return person
    }
    const reader = await roles('reader', ['apps.read'])
    const others = await roles('others', ['apps.configure', 'members', 'invites'])
    const ask = (person: Person, tenantId: string, slug: string) =>
      Promise.all([
        service.query(
          person,
          'query($p: ID!, $slug: String!) { found: tenant(projectId: $p, slug: $slug) { id name slug } }',
          { p: own.id, slug },
        ),
        service.query(
          person,
          `query($t: ID!) { found: tenant2Applications(tenantId: $t) {
            enabled application { id name slug description } } }`,
          { t: tenantId },
        ),
      ])
    const [tenant, rows] = await ask(reader, own.tenantId, own.tenantSlug)
    expect(tenant.data.found).toMatchObject({ id: own.tenantId, slug: own.tenantSlug })
    expect(rows.data.found).toEqual([
      {
        enabled: true,
        application: {
          id: own.applicationId,
          slug: own.applicationSlug,
          name: expect.any(String),
          description: '',
        },
      },
    ])
    for (const answer of [
      ...(await ask(reader, sibling, 'beside')),
      ...(await ask(others, own.tenantId, own.tenantSlug)),
    ])
      expect([answer.error, answer.data]).toEqual([expect.stringMatching(/not found$|^not permitted/), null])
    const list = 'query($s: String!) { tenants(projectSlug: $s) { id } }'
    expect((await service.query(reader, list, { s: own.slug })).data.tenants).toEqual([{ id: own.tenantId }])
    expect((await service.query(others, list, { s: own.slug })).data.tenants).toEqual([])
  })

  test('[policy.tenant-apps-read] tenant and application members see their own tenant or application and no sibling', async () => {
    const { people, own } = await createMatrixWorld(service)
    const sibling = '11111111-1111-7111-8111-111111111111'
    await seedTenant(service.sql, own.id, sibling, 'sibling')
    const lists =
      'query($s: String!) { tenants(projectSlug: $s) { id } applications(projectSlug: $s) { id } }'
    const seen = async (person: { id: string }) => {
      const { data } = await service.query(person, lists, { s: own.slug })
      return { tenants: data.tenants.length as number, applications: data.applications.length as number }
    }
    expect(await seen(people.readonly)).toEqual({ tenants: 2, applications: 1 })
    expect(await seen(people['tenant member'])).toEqual({ tenants: 1, applications: 0 })
    expect(await seen(people['application readonly'])).toEqual({ tenants: 0, applications: 1 })
    const rows = await service.query(
      people['tenant member'],
      'query($t: ID!) { tenant2Applications(tenantId: $t) { application { id slug } } }',
      { t: own.tenantId },
    )
    expect(rows.data.tenant2Applications).toEqual([
      { application: { id: own.applicationId, slug: own.applicationSlug } },
    ])
    const other = await service.query(
      people['tenant owner'],
      'query($t: ID!) { tenant2Applications(tenantId: $t) { id } }',
      { t: sibling },
    )
    expect(other.error).toMatch(/not found$/)
  })
})
