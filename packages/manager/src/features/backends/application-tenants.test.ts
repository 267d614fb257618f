import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { callAsMachine } from '@manager/harness/backends.ts'
import { bearer } from '@manager/harness/credentials.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, project, other } = useProject({ withOther: true })

const machine = () => seedMachineUser(service.sql, project)
const list = (token: string, id: string) =>
  callAsMachine(service, { method: 'GET', path: `/application/${id}/tenants`, token })

/**
 * Creates an application with the given number of tenants. The application is disabled for every tenth
 * tenant.
 */
async function seedApplication(tenants: number): Promise<string> {
  const id = randomUUID()
  await service.sql.query('insert into applications (id, project_id, name, slug) values ($1, $2, $3, $3)', [
    id,
    project.id,
    `app-${id.slice(0, 8)}`,
  ])
  await service.sql.query(
    `with made as (
       insert into tenants (id, project_id, name, slug)
       select gen_random_uuid(), $2, 'Tenant "' || n || '" \\ ü', $3 || n from generate_series(1, $4::int) n
       returning id, slug
     )
     insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $2, id, $1, slug not like '%0' from made`,
    [id, project.id, `t-${id.slice(0, 8)}-`, tenants],
  )
  return id
}
const enabledOf = async (applicationId: string) =>
  (
    await service.sql.query<{ id: string; name: string }>(
      `select t.id, t.name from tenants t join tenant2applications ta on ta.tenant_id = t.id
       where ta.application_id = $1 and ta.enabled order by t.id`,
      [applicationId],
    )
  ).rows

describe('GET /api/machine/application/:id/tenants', () => {
  test('[backends.tenants] lists the tenants with the application enabled, by id, and no others', async () => {
    const { token } = await machine()
    const applicationId = await seedApplication(25)
    const { status, body, headers } = await list(token, applicationId.toUpperCase())
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/json; charset=utf-8',
      'no-store',
    ])
    const tenants = await enabledOf(applicationId)
    expect(tenants).toHaveLength(23)
    expect(body).toEqual({ success: true, tenants })
  })

  test('[backends.tenants] lists all of them, however many pages they are read in', async () => {
    const { token } = await machine()
    for (const [count, statements] of [
      [0, 1],
      [2_222, 3],
    ] as const) {
      const applicationId = await seedApplication(count)
      service.statements.length = 0
      const { body } = await list(token, applicationId)
      expect(body).toEqual({ success: true, tenants: await enabledOf(applicationId) })
      const pages = service.statements.filter((text) => text.includes('from tenant2applications'))
      expect([count, pages.length]).toEqual([count, statements])
    }
  })

  test('[backends.tenants] ends where a page ends', async () => {
    const { token } = await machine()
    // 1,000 of the 1,111 rows are enabled.
    const applicationId = await seedApplication(1_111)
    const { body } = await list(token, applicationId)
    expect(body.tenants).toHaveLength(1_000)
    expect(body.tenants).toEqual(await enabledOf(applicationId))
  })

  test('[backends.tenants-foreign] an application of another project, of none, or no UUID is answered 404', async () => {
    const { token } = await machine()
    for (const id of [other.applicationId, randomUUID(), 'no-uuid']) {
      const { status, body } = await list(token, id)
      expect([id, status, body]).toMatchObject([
        id,
        404,
        { success: false, message: 'Application not found or does not belong to your project' },
      ])
    }
  })

  test('HEAD reads no further than the first page', async () => {
    const { token } = await machine()
    const applicationId = await seedApplication(2_222)
    service.statements.length = 0
    const url = `${service.url}/api/machine/application/${applicationId}/tenants`
    const response = await fetch(url, { method: 'HEAD', headers: bearer(token) })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(service.statements.filter((text) => text.includes('from tenant2applications'))).toHaveLength(1)
  })
})

describe('a failure', () => {
  let restore = (): void => undefined
  afterEach(() => restore())
  /** Makes all reads after the first `pages` pages fail. */
  function failAfter(pages: number): void {
    const { database } = service.world
    const { run } = database
    restore = () => void (database.run = run)
    let read = 0
    database.run = (statement, values) =>
      statement.name === 'backends-application-tenants' && ++read > pages
        ? Promise.reject(new Error('planted failure'))
        : run(statement, values)
  }
  const fetchTenants = async () => {
    const { token } = await machine()
    const applicationId = await seedApplication(2_222)
    return fetch(`${service.url}/api/machine/application/${applicationId}/tenants`, {
      headers: bearer(token),
    })
  }

  test('before the first page is answered like any other', async () => {
    failAfter(0)
    const response = await fetchTenants()
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { success: false, code: 'internal' },
    ])
  })

  test('after it cuts the connection, so that nobody takes a part for the whole, and is logged', async () => {
    failAfter(2)
    const response = await fetchTenants()
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    const id = response.headers.get('x-request-id')
    await expect
      .poll(() => service.logLines.filter(({ request_id }) => request_id === id))
      .toMatchObject([
        { level: 'error', msg: 'response stream failed', err: { message: 'planted failure' } },
        { level: 'warn', msg: 'request', aborted: true },
      ])
  })
})
