// These tests cover endpoints through GraphQL: reading, lifecycle and roles. endpoint-writes.test.ts covers valid
// input.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import {
  endpointCalls,
  endpointFields,
  seedEndpoint,
  seedEndpointAccess,
} from '../../../test/kit/endpoints.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { expectRefused, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import {
  type SeededProject,
  seedMachineUser,
  seedMember,
  seedProject,
  seedUser,
} from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

const { create, update, remove, list, get, auditOf } = endpointCalls(() => service)

const full = {
  name: 'Orders',
  description: 'Orders of the shop',
  enabled: false,
  consumeURL: '/orders',
  url: 'https://partner.example/orders',
  authType: 'Basic',
  authUsername: 'shop',
  inputMessageType: 'JSON',
  outputMessageType: 'SOAP',
  transformationTemplate: '',
  logLevel: 'FULL',
}
const secretless = { authPassword: null, authToken: null }
const newApplication = async (of: SeededProject, slug: string): Promise<string> => {
  const id = randomUUID()
  await service.sql.query('insert into applications (id, project_id, name, slug) values ($1, $2, $3, $3)', [
    id,
    of.id,
    slug,
  ])
  return id
}
/** Creates a person with this role in the project, its tenant or its application, or without a role. */
const memberOf = async (role: string | null, of: object = {}): Promise<Person> => {
  const person = await seedUser(service.sql, role ?? 'outsider')
  if (role !== null) await seedMember(service.sql, person, role, { projectId: project.id, ...of })
  return person
}
const idsOf = ({ data }: GraphqlAnswer): string[] => (data.rows as { id: string }[]).map(({ id }) => id)

describe('reading endpoints', () => {
  test('[endpoints.queries] the list, the list of the application and the single row tell the same, of one application', async () => {
    const own = await seedProject(service.sql, 'read')
    const sibling = await newApplication(own, 'sibling')
    const made = []
    for (const consumeURL of ['/c', '/a', '/b'])
      made.push((await create(admin, own.applicationId, { ...full, consumeURL })).data.row)
    const elsewhere = (await create(admin, sibling, { ...full, consumeURL: '/a' })).data.row
    const { data } = await list(admin, own.applicationId)
    expect(data.rows).toEqual(made)
    const { data: nested } = await service.query(
      admin,
      `{ application(projectId: "${own.id}", slug: "${own.applicationSlug}") { endpoints { ${endpointFields} } } }`,
    )
    expect(nested.application.endpoints).toEqual(made)
    expect((await list(admin, sibling)).data.rows).toEqual([elsewhere])
    for (const row of made) {
      expect((await get(admin, own.applicationId, row.id as string)).data.row).toEqual(row)
      // Ids are case-insensitive.
      const upper = (row.id as string).toUpperCase()
      expect((await get(admin, own.applicationId.toUpperCase(), upper)).data.row).toEqual(row)
    }
    expect((await list(admin, await newApplication(own, 'empty'))).data.rows).toEqual([])
  })

  test('[endpoints.queries] an endpoint of another application, and what is unknown, is not found', async () => {
    const id = await seedEndpoint(service.sql, project)
    const sibling = await newApplication(project, 'not-its-own')
    for (const wrong of [randomUUID(), 'nothing', project.applicationId])
      expect((await get(admin, project.applicationId, wrong)).error).toBe('endpoint not found')
    expect((await get(admin, sibling, id)).error).toBe('endpoint not found')
    for (const unknown of [randomUUID(), 'nothing', project.id]) {
      expect((await list(admin, unknown)).error).toBe('application not found')
      expect((await get(admin, unknown, id)).error).toBe('application not found')
    }
  })

  test('[endpoints.queries] the list is filtered and ordered by what an endpoint shows, and never by a secret', async () => {
    const own = await seedProject(service.sql, 'filtered')
    const ids = new Map<string, string>()
    for (const input of [
      { name: 'Orders', consumeURL: '/orders', authType: 'Basic', logLevel: 'NONE', url: 'http://a.example' },
      { name: 'Old orders', consumeURL: '/old', enabled: false, description: 'retired' },
      { name: 'Stock', consumeURL: '/stock', authType: 'Bearer', logLevel: 'FULL', authToken: 'a' },
    ])
      ids.set(input.name, (await create(admin, own.applicationId, input)).data.row.id as string)
    const by = async (field: string, value: string): Promise<(string | undefined)[]> => {
      const answer = await service.query(
        admin,
        `query($id: ID!, $filters: [Filter!]) { rows: endpoints(application: $id, filters: $filters) { id name } }`,
        { id: own.applicationId, filters: { field, value } },
      )
      return answer.error === null
        ? answer.data.rows.map((row: { name: string }) => row.name)
        : [answer.error]
    }
    expect(await by('name', 'ORDERS')).toEqual(['Orders', 'Old orders'])
    expect(await by('description', 'retire')).toEqual(['Old orders'])
    expect(await by('consumeURL', 'st')).toEqual(['Stock'])
    expect(await by('url', 'a.example')).toEqual(['Orders'])
    expect(await by('enabled', 'false')).toEqual(['Old orders'])
    expect(await by('authType', 'Bearer')).toEqual(['Stock'])
    expect(await by('authType', 'bearer')).toEqual([])
    expect(await by('logLevel', 'BASIC')).toEqual(['Old orders'])
    expect(await by('id', ids.get('Stock') as string)).toEqual(['Stock'])
    for (const hidden of ['authPassword', 'authToken', 'auth_password', 'transformationTemplate'])
      expect(await by(hidden, 'a')).toEqual([
        `unknown filter field "${hidden}"; allowed: id, name, description, enabled, consumeURL, url, authType, logLevel, createdAt, updatedAt`,
      ])
  })

  test('endpoints of many applications, and the way back, cost as many statements as those of one', async () => {
    const counts = []
    for (const [slug, applications] of [
      ['one', 1],
      ['many', 20],
    ] as const) {
      const own = await seedProject(service.sql, slug)
      for (let index = 1; index < applications; index++) {
        const applicationId = await newApplication(own, `${slug}-${index}`)
        await seedEndpoint(service.sql, { ...own, applicationId })
      }
      await seedEndpoint(service.sql, own)
      service.statements.length = 0
      const { data } = await service.query(
        await memberOf('readonly', { projectId: own.id }),
        `{ applications(projectSlug: "${slug}") { id endpoints { id application { id } } } }`,
      )
      expect(data.applications).toHaveLength(applications)
      for (const { id, endpoints } of data.applications)
        expect(endpoints).toEqual([{ id: uuid, application: { id } }])
      counts.push(service.statements.length)
    }
    expect(counts[1]).toBe(counts[0])
  })
})

describe('the schema', () => {
  type Field = { name: string; type: { kind: string; name: string | null; ofType: { name: string } | null } }
  const fieldsOf = async (type: string): Promise<Record<string, string>> => {
    const { data } = await service.query(
      admin,
      `{ type: __type(name: "${type}") { ${type.endsWith('Input') ? 'inputFields' : 'fields'} {
        name type { kind name ofType { name } } } } }`,
    )
    const { fields, inputFields } = data.type as { fields?: Field[]; inputFields?: Field[] }
    return Object.fromEntries(
      (fields ?? inputFields ?? []).map(({ name, type: { kind, name: own, ofType } }) => [
        name,
        kind === 'NON_NULL' ? `${ofType?.name}!` : (own as string),
      ]),
    )
  }

  test('[endpoints.fields] an endpoint has its fields, and inputs ask for name and consumeURL alone', async () => {
    const optional = {
      description: 'String',
      enabled: 'Boolean',
      url: 'String',
      authType: 'EndpointAuthType',
      authUsername: 'String',
      authPassword: 'String',
      authToken: 'String',
      inputMessageType: 'EndpointInputMessageType',
      outputMessageType: 'EndpointOutputMessageType',
      transformationTemplate: 'String',
      logLevel: 'EndpointLogLevel',
    }
    expect(await fieldsOf('Endpoint')).toMatchObject({
      id: 'ID!',
      name: 'String!',
      consumeURL: 'String!',
      ...optional,
      description: 'String!',
      enabled: 'Boolean!',
      authType: 'EndpointAuthType!',
      authUsername: 'String!',
      transformationTemplate: 'String!',
      logLevel: 'EndpointLogLevel!',
    })
    expect(await fieldsOf('CreateEndpointInput')).toEqual({
      name: 'String!',
      consumeURL: 'String!',
      ...optional,
    })
    expect(await fieldsOf('UpdateEndpointInput')).toEqual({
      name: 'String',
      consumeURL: 'String',
      ...optional,
      expectedRevision: 'Int',
    })
  })

  test('[endpoints.auth-type] [endpoints.message-types] [endpoints.log-level] the enums have these values and no other', async () => {
    for (const [name, values] of [
      ['EndpointAuthType', ['Basic', 'Bearer', 'None']],
      ['EndpointInputMessageType', ['SOAP', 'XML', 'JSON']],
      ['EndpointOutputMessageType', ['SOAP', 'XML', 'JSON']],
      ['EndpointLogLevel', ['NONE', 'BASIC', 'FULL']],
    ] as const) {
      const { data } = await service.query(
        admin,
        `{ type: __type(name: "${name}") { kind enumValues { name } } }`,
      )
      expect(data.type).toEqual({ kind: 'ENUM', enumValues: values.map((value) => ({ name: value })) })
    }
    for (const [field, values] of Object.entries({
      authType: ['Basic', 'Bearer', 'None'],
      inputMessageType: ['SOAP', 'XML', 'JSON'],
      outputMessageType: ['SOAP', 'XML', 'JSON'],
      logLevel: ['NONE', 'BASIC', 'FULL'],
    })) {
      const id = await seedEndpoint(service.sql, project)
      for (const value of values) {
        expect((await update(admin, id, { [field]: value })).data.row[field]).toBe(value)
        expect((await get(admin, project.applicationId, id)).data.row[field]).toBe(value)
      }
      for (const value of ['', 'basic', 'Digest', 'json', 'CSV', 'full', 'DEBUG', 1, true]) {
        const answer = await update(admin, id, { [field]: value })
        expect([answer.status, answer.data]).toEqual([400, null])
      }
      expect((await get(admin, project.applicationId, id)).data.row[field]).toBe(values.at(-1))
    }
  })
})

describe('the life of an endpoint', () => {
  test('[endpoints.mutations] [endpoints.fields] it is made, changed and removed, each answered and audited', async () => {
    const own = await seedProject(service.sql, 'life')
    const made = await create(admin, own.applicationId, full)
    expect(made.data.row).toEqual({ id: uuid, ...full, ...secretless })
    const { id } = made.data.row as { id: string }
    const changed = { ...full, name: 'Orders 2', consumeURL: '/v2/orders', enabled: true, authType: 'None' }
    expect((await update(admin, id, changed)).data.row).toEqual({ id, ...changed, ...secretless })
    expect((await get(admin, own.applicationId, id)).data.row).toEqual({ id, ...changed, ...secretless })
    const { id: machineUserId } = await seedMachineUser(service.sql, own)
    await seedEndpointAccess(service.sql, { projectId: own.id, endpointId: id, machineUserId })
    expect((await remove(admin, id)).data).toEqual({ done: true })
    expect((await list(admin, own.applicationId)).data.rows).toEqual([])
    for (const answer of [await remove(admin, id), await update(admin, id, { name: 'x' })])
      expect(answer.error).toBe('endpoint not found')
    const { rowCount } = await service.sql.query(
      'select 1 from machine_user2endpoints where endpoint_id = $1',
      [id],
    )
    expect(rowCount).toBe(0)
    const [creation, change, removal, ...more] = await auditOf(id)
    expect([creation?.action, change?.action, removal?.action, more]).toEqual([
      'create',
      'update',
      'delete',
      [],
    ])
    expect(creation).toMatchObject({
      user_id: admin.id,
      changes: {
        name: { before: null, after: 'Orders' },
        consumeUrl: { before: null, after: '/orders' },
        url: { before: null, after: 'https://partner.example/orders' },
        applicationId: { before: null, after: own.applicationId },
      },
    })
    expect(change?.changes).toEqual({
      name: { before: 'Orders', after: 'Orders 2' },
      consumeUrl: { before: '/orders', after: '/v2/orders' },
      enabled: { before: false, after: true },
      authType: { before: 'Basic', after: 'None' },
    })
    expect(removal?.changes).toMatchObject({ name: { before: 'Orders 2', after: null } })
  })

  test('[endpoints.mutations] an unknown application or endpoint is an error', async () => {
    for (const unknown of [randomUUID(), 'nothing', project.id]) {
      expect((await create(admin, unknown, full)).error).toBe('application not found')
      expect((await update(admin, unknown, { name: 'x' })).error).toBe('endpoint not found')
      expect((await remove(admin, unknown)).error).toBe('endpoint not found')
    }
  })

  test('endpoints go with their application and with their project', async () => {
    const own = await seedProject(service.sql, 'gone')
    const left = await newApplication(own, 'left')
    await seedEndpoint(service.sql, own)
    await seedEndpoint(service.sql, { ...own, applicationId: left })
    const count = async () =>
      (await service.sql.query('select 1 from endpoints where project_id = $1', [own.id])).rowCount
    await service.query(admin, 'mutation($id: ID!) { deleteApplication(id: $id) }', { id: left })
    expect(await count()).toBe(1)
    await service.query(admin, 'mutation($id: ID!) { deleteProject(id: $id) }', { id: own.id })
    expect(await count()).toBe(0)
  })
})

describe('who may do what', () => {
  test('[endpoints.role-read] members of the project and administrators read; nobody else finds the endpoint', async () => {
    const id = await seedEndpoint(service.sql, project)
    const readers = await Promise.all(
      ['readonly', 'tester', 'developer', 'maintainer', 'owner'].map((role) => memberOf(role)),
    )
    for (const reader of [admin, ...readers]) {
      expect(idsOf(await list(reader, project.applicationId))).toContain(id)
      expect((await get(reader, project.applicationId, id)).data.row.id).toBe(id)
    }
    const other = await seedProject(service.sql, 'of-strangers')
    for (const [stranger, code] of [
      [await memberOf(null), 'not_found'],
      [await memberOf('owner', { projectId: other.id }), 'not_found'],
      [await memberOf('owner', { tenantId: project.tenantId }), 'not_found'],
      // This member sees the application, but none of its endpoints.
      [await memberOf('normal', { applicationId: project.applicationId }), 'forbidden'],
    ] as const) {
      expectRefused(await list(stranger, project.applicationId), code)
      expectRefused(await get(stranger, project.applicationId, id), code)
      expectRefused(await get(stranger, project.applicationId, randomUUID()), code)
    }
  })

  test('[endpoints.role-write] maintainers, owners and administrators write; others are refused and change nothing', async () => {
    const operations: ((caller: Person, id: string) => Promise<GraphqlAnswer>)[] = [
      (caller) => create(caller, project.applicationId, { name: 'x', consumeURL: `/${randomUUID()}` }),
      (caller, id) => update(caller, id, { name: 'renamed', enabled: false }),
      remove,
    ]
    for (const caller of [admin, await memberOf('maintainer'), await memberOf('owner')]) {
      const id = await seedEndpoint(service.sql, project)
      for (const operation of operations) expect((await operation(caller, id)).error).toBeNull()
    }
    const id = await seedEndpoint(service.sql, project)
    const before = await list(admin, project.applicationId)
    for (const role of ['readonly', 'tester', 'developer', null]) {
      const caller = await memberOf(role)
      for (const operation of operations)
        expectRefused(await operation(caller, id), role === null ? 'not_found' : 'forbidden')
    }
    expect((await list(admin, project.applicationId)).data).toEqual(before.data)
    expect(await auditOf(id)).toEqual([])
  })
})
