// Tests grants to people who are in the LDAP directory and have never signed in.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type Slapd, startSlapd } from '@manager/harness/engines/slapd.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { ldapEnv, personId, toLdif } from '../../../test/kit/ldap.ts'
import { codeOf, memberCalls } from '../../../test/kit/members.ts'

const ldif = Array.from({ length: 9 }, (_, n) =>
  toLdif({
    id: personId(n),
    uid: `person${n}`,
    cn: `Person ${n}`,
    mail: `person${n}@example.org`,
    more: n === 8 ? { accountDisabled: 'TRUE' } : {},
  }),
).join('')
const disabled = personId(8)

let slapd: Slapd
let service: TestApp
let admin: Person
let project: SeededProject

beforeAll(async () => {
  slapd = await startSlapd({ ldif })
  service = await startTestApp({ env: { ...ldapEnv(slapd), SVC_LDAP_DISABLED_ATTRIBUTE: 'accountDisabled' } })
  admin = await seedUser(service.sql, 'admin', 'administrator')
  project = await seedProject(service.sql, 'granting')
})
afterAll(async () => {
  await service.close()
  await slapd.close()
})

const ofProject = memberCalls('Project', () => service)
const ofTenant = memberCalls('Tenant', () => service)
const ofApplication = memberCalls('Application', () => service)
const usersOf = async (id: string) => {
  const { rows } = await service.sql.query(
    'select external_name as name, external_username as username, external_email as email, role from users where id = $1',
    [id],
  )
  return rows
}
/** Number of directory requests so far. */
const countRequests = async (): Promise<number> => {
  const text = await service.world.metrics.registry.metrics()
  const counts = text.matchAll(/^svc_directory_request_duration_seconds_count\{.*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

describe('a grant to a person who has never signed in', () => {
  test('[memberships.project-add] creates the user, who is the same after the first sign-in', async () => {
    const id = personId(0)
    const added = await ofProject.add(admin, { of: project.id, userID: id, role: 'developer' })
    expect(added.error).toBeNull()
    expect(added.data.row).toMatchObject({ role: 'developer', user: { id, externalName: 'Person 0' } })
    expect(await usersOf(id)).toEqual([
      { name: 'Person 0', username: 'person0', email: 'person0@example.org', role: 'user' },
    ])
    const signedIn = { id, name: 'Person Zero', email: 'person0@example.org' }
    const { data } = await service.query(signedIn, '{ me { id externalName } projects { slug } }')
    expect(data).toEqual({ me: { id, externalName: 'Person Zero' }, projects: [{ slug: 'granting' }] })
    expect(await usersOf(id)).toHaveLength(1)
  })

  test('[memberships.tenant-add] [memberships.application-add] works for tenants and applications', async () => {
    const tenant = { of: project.tenantId, userID: personId(1), role: 'member' }
    expect((await ofTenant.add(admin, tenant)).data.row).toMatchObject({ user: { externalName: 'Person 1' } })
    const application = { of: project.applicationId, userID: personId(2), role: 'normal' }
    expect((await ofApplication.add(admin, application)).data.row).toMatchObject({
      user: { externalName: 'Person 2' },
    })
  })

  test('is audited like every grant, and repeated it is a conflict', async () => {
    const variables = { of: project.id, userID: personId(3), role: 'tester' }
    await ofProject.add(admin, variables)
    expect(codeOf(await ofProject.add(admin, variables))).toBe('conflict')
    const { rows } = await service.sql.query(
      "select action, user_id from audit_logs where chain_id = $1 and changes #>> '{userId,after}' = $2",
      [project.id, personId(3)],
    )
    expect(rows).toEqual([{ action: 'grant', user_id: admin.id }])
  })

  test('succeeds for all callers who grant at the same time', async () => {
    const answers = await Promise.all([
      ofProject.add(admin, { of: project.id, userID: personId(4), role: 'tester' }),
      ofTenant.add(admin, { of: project.tenantId, userID: personId(4), role: 'member' }),
      ofApplication.add(admin, { of: project.applicationId, userID: personId(4), role: 'normal' }),
    ])
    expect(answers.map(({ error }) => error)).toEqual([null, null, null])
    expect(await usersOf(personId(4))).toHaveLength(1)
  })

  test('is refused if the account is disabled, or nobody has the id', async () => {
    for (const [calls, of, role] of [
      [ofProject, project.id, 'tester'],
      [ofTenant, project.tenantId, 'member'],
      [ofApplication, project.applicationId, 'normal'],
    ] as const) {
      const refused = await calls.add(admin, { of, userID: disabled, role })
      expect(refused.error).toBe(
        'the account of this user is disabled in the user directory; enable the account, then try again',
      )
      expect(codeOf(refused)).toBe('conflict')
      for (const userID of [randomUUID(), 'nobody'])
        expect((await calls.add(admin, { of, userID, role })).error).toBe('user not found')
    }
    expect(await usersOf(disabled)).toEqual([])
  })
})

describe('the directory', () => {
  test('is not asked for users whom the Manager knows', async () => {
    const { id: userID } = await seedUser(service.sql, 'known')
    const before = await countRequests()
    service.statements.length = 0
    expect((await ofProject.add(admin, { of: project.id, userID, role: 'tester' })).error).toBeNull()
    expect(service.statements.filter((sql) => /insert into "?users"?/.test(sql))).toEqual([])
    expect(await countRequests()).toBe(before)
  })

  test('is not asked for callers who may not grant the role', async () => {
    const before = await countRequests()
    const [maintainer, tester, stranger] = await Promise.all(
      ['maintainer', 'tester', 'stranger'].map((name) => seedUser(service.sql, name)),
    )
    await seedMember(service.sql, maintainer as Person, 'maintainer', { projectId: project.id })
    await seedMember(service.sql, tester as Person, 'tester', { projectId: project.id })
    for (const userID of [personId(5), disabled, randomUUID()]) {
      const owner = { of: project.id, userID, role: 'owner' }
      expect(codeOf(await ofProject.add(maintainer as Person, owner))).toBe('forbidden')
      expect(codeOf(await ofProject.add(tester as Person, { ...owner, role: 'readonly' }))).toBe('forbidden')
      expect((await ofProject.add(stranger as Person, { ...owner, role: 'readonly' })).error).toBe(
        'project not found',
      )
      const tenant = { of: project.tenantId, userID, role: 'member' }
      expect((await ofTenant.add(stranger as Person, tenant)).error).toBe('tenant not found')
    }
    expect(await usersOf(personId(5))).toEqual([])
    expect(await countRequests()).toBe(before)
  })

  test('is asked without a lock: another grant in the project does not wait for it', async () => {
    const known = await seedUser(service.sql, 'not-waiting')
    await slapd.suspend()
    let pending: Promise<unknown>
    try {
      service.statements.length = 0
      pending = ofProject.add(admin, { of: project.id, userID: personId(6), role: 'tester' })
      const hasTried = () => service.statements.some((sql) => sql.startsWith('insert into "user2projects"'))
      await expect.poll(hasTried, { timeout: 20_000 }).toBe(true)
      const added = await ofProject.add(admin, { of: project.id, userID: known.id, role: 'tester' })
      expect(added.error).toBeNull()
    } finally {
      slapd.resume()
    }
    await pending
  })

  test('that does not answer fails the grant with 503 and leaves nothing behind', async () => {
    await slapd.stop()
    try {
      const refused = await ofProject.add(admin, { of: project.id, userID: personId(7), role: 'tester' })
      expect(codeOf(refused)).toBe('unavailable')
      const known = await seedUser(service.sql, 'still-granted')
      const added = await ofProject.add(admin, { of: project.id, userID: known.id, role: 'tester' })
      expect(added.error).toBeNull()
    } finally {
      await slapd.start()
    }
    expect(await usersOf(personId(7))).toEqual([])
    expect(
      (await ofProject.add(admin, { of: project.id, userID: personId(7), role: 'tester' })).error,
    ).toBeNull()
  })
})
