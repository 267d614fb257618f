// Tests the queries that return one object by its id: they show the same object as the list does, to the same callers.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMachineUser, seedMember } from '@manager/harness/seed.ts'
import { seedSpecification } from './kit/deployments.ts'
import { useProject } from './kit/project.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })

type Read = { noun: string; fields: string; listed: string; id: string }
/** Queries by id, each with the list that contains the same object. */
const reads: Record<string, Read> = {}
let reader: Person
let foreigner: Person

beforeAll(async () => {
  reader = await member('reader', 'readonly')
  foreigner = await person('foreigner')
  await seedMember(service.sql, foreigner, 'owner', { projectId: other.id })
  const { data } = await service.query(
    admin,
    `mutation { pack: createLanguagePack(projectId: "${project.id}", input: {name: "de"}) { id } }`,
  )
  const { id: machineUserId } = await seedMachineUser(service.sql, project)
  const { applicationId, tenantId, slug } = project
  Object.assign(reads, {
    machineUser: {
      noun: 'machine user',
      fields: 'id name username enabled tokenPrefix createdAt updatedAt revision environment { id }',
      listed: `machineUsers(environment: "${project.environmentId}")`,
      id: machineUserId,
    },
    tenantById: {
      noun: 'tenant',
      fields: 'id name slug deploymentMode updatedAt revision project { id } myPermissions',
      listed: `tenants(projectSlug: "${slug}")`,
      id: tenantId,
    },
    applicationById: {
      noun: 'application',
      fields: 'id name slug description createdAt updatedAt revision project { id } myPermissions',
      listed: `applications(projectSlug: "${slug}")`,
      id: applicationId,
    },
    tenant2Application: {
      noun: 'tenant2Application',
      fields: 'id enabled updatedAt revision tenant { id } application { id }',
      listed: `tenant2Applications(tenantId: "${tenantId}")`,
      id: project.tenant2ApplicationId,
    },
    languagePack: {
      noun: 'language pack',
      fields: 'id name content { Key Value } updatedAt revision',
      listed: `languagePacks(project: "${project.id}")`,
      id: data.pack.id as string,
    },
    deploymentSpecification: {
      noun: 'deployment specification',
      fields:
        'id workload image scaleToZero createdAt updatedAt revision application { id } environment { id }',
      listed: `deploymentSpecifications(application: "${applicationId}")`,
      id: await seedSpecification(service.sql, project),
    },
  } satisfies typeof reads)
})

const read = (caller: Person, name: string, id: string) =>
  service.query(caller, `query($id: ID!) { row: ${name}(id: $id) { ${reads[name]?.fields ?? 'id'} } }`, {
    id,
  })

describe('a query by id', () => {
  test('returns the object as the list does', async () => {
    for (const [name, { fields, listed, id }] of Object.entries(reads)) {
      const { data } = await service.query(reader, `{ rows: ${listed} { ${fields} } }`)
      const rows = data.rows as { id: string }[]
      for (const spelling of [id, id.toUpperCase()]) {
        const answer = await read(reader, name, spelling)
        expect([name, answer.error]).toEqual([name, null])
        expect(answer.data.row).toEqual(rows.find((row) => row.id === id))
      }
    }
  })

  test('does not find an object of another project, or one that does not exist', async () => {
    const stranger = await person('stranger')
    for (const [name, { noun, id }] of Object.entries(reads)) {
      for (const caller of [stranger, foreigner])
        expect([name, (await read(caller, name, id)).error]).toEqual([name, `${noun} not found`])
      for (const unknown of [randomUUID(), 'nothing', '', project.id])
        expect([name, (await read(admin, name, unknown)).error]).toEqual([name, `${noun} not found`])
    }
  })

  test('returns tenants and applications to their own members, and no neighbors', async () => {
    const guest = await person('guest')
    const { id: projectId, tenantId, applicationId } = project
    await seedMember(service.sql, guest, 'member', { projectId, tenantId })
    expect((await read(guest, 'tenantById', tenantId)).error).toBeNull()
    expect((await read(guest, 'applicationById', applicationId)).error).toBe('application not found')
    await seedMember(service.sql, guest, 'readonly', { projectId, applicationId })
    expect((await read(guest, 'applicationById', applicationId)).error).toBeNull()
    expect((await read(guest, 'tenantById', other.tenantId)).error).toBe('tenant not found')
  })

  test('costs the same statements for one object and for many of its kind', async () => {
    const countStatements = async (objects: number) => {
      const aliases = Array.from(
        { length: objects },
        (_, index) => `a${index}: tenantById(id: "${project.tenantId}") { id }`,
      )
      service.statements.length = 0
      expect((await service.query(admin, `{ ${aliases.join(' ')} }`)).error).toBeNull()
      return service.statements.length
    }
    expect(await countStatements(5)).toBe(await countStatements(1))
  })
})

describe('a user by id', () => {
  const idsFor = async (caller: Person): Promise<string[]> => {
    const { data } = await service.query(caller, '{ users { id } }')
    return (data.users as { id: string }[]).map(({ id }) => id)
  }

  test('is returned to the callers who see the user in the list', async () => {
    const [alone, colleague] = [await person('alone'), await member('colleague', 'tester')]
    const people = [alone, colleague, reader, foreigner, admin]
    for (const caller of people) {
      const listed = new Set(await idsFor(caller))
      for (const { id } of people) {
        const { data, error } = await service.query(
          caller,
          'query($id: ID!) { user(id: $id) { id externalName role revision } }',
          { id },
        )
        const found = { id, externalName: expect.any(String), role: expect.any(String), revision: 1 }
        expect([data?.user ?? null, error]).toEqual(listed.has(id) ? [found, null] : [null, 'user not found'])
      }
    }
    expect(await idsFor(alone)).toEqual([alone.id])
  })

  test('is not found if the id is unknown or is not a UUID', async () => {
    for (const id of [randomUUID(), 'nothing', project.id])
      for (const caller of [admin, reader])
        expect((await read(caller, 'user', id)).error).toBe('user not found')
  })
})
