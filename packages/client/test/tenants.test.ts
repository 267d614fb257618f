// Tests listing the tenants of an application and running work for each tenant.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../manager/test/kit/app.ts'
import { type SeededProject, seedMachineUser, seedProject, seedTenant } from '@manager/harness/seed.ts'
import { type Connection, type Tenant, connect, forEachTenant, listTenants } from '../src/index.ts'

let service: TestApp
let project: SeededProject
let connection: Connection
let names: string[]

beforeAll(async () => {
  service = await startTestApp()
  project = await seedProject(service.sql, 'shop')
  const { token } = await seedMachineUser(service.sql, project)
  connection = connect({ url: service.url, token })
  for (const slug of ['b', 'c', 'd', 'e']) {
    const id = randomUUID()
    await seedTenant(service.sql, project.id, id, slug)
    await service.sql.query(
      'insert into tenant2applications (id, project_id, tenant_id, application_id, enabled) values ($1, $2, $3, $4, $5)',
      [randomUUID(), project.id, id, project.applicationId, slug !== 'e'],
    )
  }
  names = ['shop-tenant', 'b', 'c', 'd'].toSorted()
})
afterAll(() => service.close())

test('listTenants gives all tenants that the application is enabled for', async () => {
  const tenants = await listTenants(connection, project.applicationId)
  expect(tenants.map(({ name }) => name).toSorted()).toEqual(names)
  expect(tenants.find(({ name }) => name === 'shop-tenant')?.id).toBe(project.tenantId)
  await expect(listTenants(connection, randomUUID())).rejects.toMatchObject({
    status: 404,
    message: 'Application not found or does not belong to your project',
  })
})

describe('forEachTenant', () => {
  test.each([1, 2, 10])('works for each once, %i at a time', async (concurrency) => {
    const done: string[] = []
    let [working, most] = [0, 0]
    const work = async ({ name }: Tenant): Promise<void> => {
      working += 1
      most = Math.max(most, working)
      await new Promise((resolve) => setImmediate(resolve))
      working -= 1
      done.push(name)
    }
    await forEachTenant(connection, project.applicationId, work, { concurrency })
    expect(done.toSorted()).toEqual(names)
    expect(most).toBe(Math.min(concurrency, names.length))
  })

  test('works for all others when it fails for some, and says for whom', async () => {
    const done: string[] = []
    const work = ({ name }: Tenant): void => {
      if (name === 'b' || name === 'd') throw new Error(`no ${name}`)
      done.push(name)
    }
    const error = await forEachTenant(connection, project.applicationId, work).catch(
      (thrown: unknown) => thrown as AggregateError,
    )
    expect(done.toSorted()).toEqual(['c', 'shop-tenant'])
    expect(error).toMatchObject({ name: 'AggregateError', message: 'work failed for 2 tenants' })
    const errors = (error as AggregateError).errors as Error[]
    expect(errors.map(({ message }) => message).toSorted()).toEqual([
      expect.stringMatching(/^tenant b \(.*\): Error: no b$/),
      expect.stringMatching(/^tenant d \(.*\): Error: no d$/),
    ])
    expect(errors[0]?.cause).toBeInstanceOf(Error)
  })

  test.each([Number.NaN, 0, -1, Infinity])('refuses a concurrency of %d', async (concurrency) => {
    const done: string[] = []
    const work = ({ name }: Tenant): number => done.push(name)
    await expect(forEachTenant(connection, project.applicationId, work, { concurrency })).rejects.toThrow(
      'concurrency must be a number from 1 to',
    )
    expect(done).toEqual([])
  })

  test('begins no further work when the signal has fired', async () => {
    const ending = new AbortController()
    const done: string[] = []
    const work = ({ name }: Tenant): void => {
      done.push(name)
      ending.abort(new Error('enough'))
    }
    await expect(
      forEachTenant(connection, project.applicationId, work, { signal: ending.signal }),
    ).rejects.toThrow('enough')
    expect(done).toHaveLength(1)
  })
})
