// Tests `manager admin list` and `manager admin revoke`. identity.test.ts covers `admin grant`.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { waitForLockWait } from './kit/locks.ts'
import { runManager } from './kit/commands.ts'
import { seedUser } from '@manager/harness/seed.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())
beforeEach(() => service.sql.query("update users set role = 'user'"))

const admin = (...args: string[]) => runManager(['admin', ...args], testEnv(service.database.url))
const seedAdministrator = (): Promise<Person & { email: string }> =>
  seedUser(service.sql, `root-${randomUUID().slice(0, 8)}`, 'administrator') as Promise<
    Person & { email: string }
  >
const roleOf = async ({ id }: Person): Promise<string | undefined> =>
  (await service.sql.query<{ role: string }>('select role from users where id = $1', [id])).rows[0]?.role
const auditRows = async ({ id }: Person) =>
  (
    await service.sql.query(
      'select action, changes, principal_type, principal_id from audit_logs where entity_id = $1 order by seq',
      [id],
    )
  ).rows

describe('manager admin revoke', () => {
  test('takes the role away at once, with one audit row that names the command', async () => {
    const [ann] = [await seedAdministrator(), await seedAdministrator()]
    expect((await service.query(ann, '{ me { role } }')).data.me.role).toBe('administrator')
    expect(await admin('revoke', ann.email.toUpperCase())).toEqual({
      code: 0,
      stdout: `${ann.email} (${ann.id}) is no longer an administrator.\n`,
      stderr: '',
    })
    expect((await service.query(ann, '{ me { role } }')).data.me.role).toBe('user')
    const row = {
      action: 'update',
      changes: { role: { before: 'administrator', after: 'user' } },
      principal_type: 'system',
      principal_id: 'manager admin revoke',
    }
    expect(await auditRows(ann)).toEqual([row])
    // A repeated revoke reports the current state and writes nothing, as a repeated grant does.
    expect(await admin('revoke', ann.id)).toEqual({
      code: 0,
      stdout: `${ann.email} (${ann.id}) is not an administrator.\n`,
      stderr: '',
    })
    expect(await auditRows(ann)).toEqual([row])
  })

  test('the only administrator keeps the role', async () => {
    const ann = await seedAdministrator()
    expect(await admin('revoke', ann.id)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${ann.email} (${ann.id}) is the only administrator; grant the role to another user first\n`,
    })
    expect([await roleOf(ann), await auditRows(ann)]).toEqual(['administrator', []])
  })

  test('two at once cannot take the role from the last two', async () => {
    const both = [await seedAdministrator(), await seedAdministrator()]
    const holder = await service.sql.connect()
    await holder.query("begin; select 1 from users where role = 'administrator' for update")
    const revoking = both.map(({ id }) => admin('revoke', id))
    await waitForLockWait(service.sql)
    await holder.query('commit')
    holder.release()
    const results = await Promise.all(revoking)
    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 1]))
    expect(results.map(({ stderr }) => stderr).join('')).toContain('is the only administrator')
    expect(new Set(await Promise.all(both.map(roleOf)))).toEqual(new Set(['administrator', 'user']))
  })

  test('a user nobody has seen is one sentence, and is not made', async () => {
    const id = randomUUID()
    expect(await admin('revoke', id)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: no user has the subject ${id}; run \`manager admin list\` to list the administrators\n`,
    })
    expect(await roleOf({ id })).toBeUndefined()
    expect((await admin('revoke', 'nobody@example.com')).stderr).toBe(
      'error: no user with the e-mail nobody@example.com has signed in yet; pass the subject (a UUID) instead\n',
    )
  })
})

describe('manager admin list', () => {
  test('names every administrator, and since when if the audit trail knows', async () => {
    expect(await admin('list')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No administrator exists. Create the first one with `manager admin grant`.\n',
    })
    const seeded = await seedAdministrator()
    const granted = await seedUser(service.sql, 'granted')
    await seedUser(service.sql, 'someone')
    await admin('grant', granted.id)
    await admin('revoke', granted.id)
    await admin('grant', granted.id)
    const { rows } = await service.sql.query<{ since: Date }>(
      'select max(created_at) as since from audit_logs where entity_id = $1',
      [granted.id],
    )
    const since = rows[0]?.since.toISOString()
    const lines = [
      { id: seeded.id, username: seeded.email, email: seeded.email, since: null },
      { id: granted.id, username: granted.email, email: granted.email, since },
    ].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    expect((await admin('list')).stdout).toBe(
      lines.map((one) => `${one.id}  ${one.username}  ${one.email}  ${one.since ?? '-'}\n`).join(''),
    )
    expect((await admin('list', '--json')).stdout).toBe(
      lines.map((one) => `${JSON.stringify(one)}\n`).join(''),
    )
  })

  test('says when there are more than it lists; a name cannot steer the terminal', async () => {
    await service.sql.query(
      `insert into users (id, external_name, external_username, external_email, role)
       select gen_random_uuid(), '', E'\\u009b31m', '', 'administrator' from generate_series(1, 1001)`,
    )
    const { code, stdout, stderr } = await admin('list')
    expect([code, stderr]).toEqual([
      0,
      'There are more than 1000 administrators. The list contains the administrators with the lowest ids.\n',
    ])
    const lines = stdout.split('\n')
    expect(lines).toHaveLength(1_001)
    expect(lines[0]).toMatch(/^[\da-f-]{36} {2}\\u009b31m {2}- {2}-$/)
  })
})
