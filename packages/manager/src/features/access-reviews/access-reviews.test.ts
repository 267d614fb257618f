// These tests cover the report: its access control, entries, scope, flags and failures.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { reviewCalls, reviewPath } from '../../../test/kit/access-reviews.ts'
import { bearer, call, createMachine, createToken, throughProxy } from '@manager/harness/credentials.ts'
import { seedEndpoint, seedEndpointAccess } from '../../../test/kit/endpoints.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { memberCalls, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedTenant } from '@manager/harness/seed.ts'

const { service, admin, project, other, person } = useProject({ withOther: true })
const { ask, read, of } = reviewCalls(() => service)
const members = {
  Project: memberCalls('Project', () => service),
  Tenant: memberCalls('Tenant', () => service),
}
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown
const sql = (text: string, values: unknown[] = []) => service.sql.query(text, values)
const backdate = (table: string, days: number, id: string, columns: string[]) =>
  sql(
    `update ${table} set ${columns.map((one) => `${one} = now() - interval '${days} days'`).join(', ')} where id = $1`,
    [id],
  )

describe('who may read it', () => {
  test('[access-review.administrator] administrators alone, by session or token; the gate first', async () => {
    const somebody = await person('somebody')
    await seedMember(service.sql, somebody, 'owner', { projectId: project.id })
    for (const query of ['', `?project_id=${project.id}`, '?format=csv'])
      expect([query, (await ask(somebody, query)).status]).toEqual([query, 403])
    expect((await fetch(service.url + reviewPath)).status).toBe(401)
    const { token } = await createToken(service, admin)
    const byToken = await call(service.url, reviewPath, { ...throughProxy(), ...bearer(token) })
    expect([byToken.status, byToken.body.scope]).toEqual([200, { type: 'system' }])
    const weak = await createToken(service, somebody)
    expect((await call(service.url, reviewPath, { ...throughProxy(), ...bearer(weak.token) })).status).toBe(
      403,
    )
  })
})

describe('the report', () => {
  test('[access-review.report] has its seven fields, is recorded, and is in the trail before it is sent', async () => {
    const report = await read(admin)
    expect(Object.keys(report).toSorted()).toEqual(
      ['chain', 'entries', 'generated_at', 'population_hash', 'report_id', 'scope', 'summary'].toSorted(),
    )
    expect(report).toMatchObject({ report_id: uuid, generated_at: time, scope: { type: 'system' } })
    expect(report.population_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(report.chain['status']).toBe('ok')
    const stored = await sql('select * from access_reviews where id = $1', [report.report_id])
    expect(stored.rows[0]).toMatchObject({
      created_by: admin.id,
      project_id: null,
      entries: report.entries.length,
    })
    const rows = await sql(
      `select action, user_id, metadata from audit_logs where entity_type = 'accessReview' and entity_id = $1`,
      [report.report_id],
    )
    expect(rows.rows).toEqual([
      {
        action: 'read',
        user_id: admin.id,
        metadata: {
          project_id: null,
          format: 'json',
          population_hash: report.population_hash,
          entries: report.entries.length,
        },
      },
    ])
  })

  test('[access-review.report] the summary counts what the entries say', async () => {
    const { entries, summary } = await read(admin)
    const count = (keys: string[]) =>
      Object.fromEntries(
        Object.entries(Object.groupBy(keys, (key) => key)).map(([key, all]) => [key, all?.length]),
      )
    const nonZero = (counts: Record<string, number>) =>
      Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0))
    expect(summary.entries).toBe(entries.length)
    expect(summary.principals).toBe(new Set(entries.map((one) => one.principal_type + one.principal_id)).size)
    expect(nonZero(summary.by_principal_type)).toEqual(count(entries.map((one) => one.principal_type)))
    expect(nonZero(summary.by_scope_type)).toEqual(count(entries.map((one) => one.scope_type)))
    expect(nonZero(summary.by_flag)).toEqual(count(entries.flatMap((one) => one.flags)))
    expect(nonZero(summary.by_recommendation)).toEqual(count(entries.map((one) => one.recommendation)))
    const roles = summary.by_role.map((one: { scope_type: string; role: string; entries: number }) => [
      `${one.scope_type} ${one.role}`,
      one.entries,
    ])
    expect(Object.fromEntries(roles)).toEqual(count(entries.map((one) => `${one.scope_type} ${one.role}`)))
    expect(summary.other_roles).toBe(0)
    const times = Object.values(summary.by_last_activity as Record<string, number>)
    expect(times.reduce((sum, n) => sum + n, 0)).toBe(entries.length)
  })

  test('[access-review.entry-principal] [access-review.entry-grant] every kind of access is an entry with all fields', async () => {
    const member = await person('member')
    await members.Project.add(admin, { of: project.id, userID: member.id, role: 'maintainer' })
    await members.Tenant.add(admin, { of: project.tenantId, userID: member.id, role: 'member' })
    await seedMember(service.sql, member, 'normal', {
      projectId: project.id,
      applicationId: project.applicationId,
    })
    const { id: tokenId } = await createToken(service, member, {
      name: 'my laptop',
      expiresAt: '2099-01-01T00:00:00Z',
    })
    const machine = await createMachine(service, admin, project.environmentId)
    const endpointId = await seedEndpoint(service.sql, project)
    await seedEndpointAccess(service.sql, { projectId: project.id, endpointId, machineUserId: machine.id })
    const report = await read(admin)
    const known = {
      name: 'member',
      email: 'member@example.com',
      principal_type: 'user',
      principal_id: member.id,
      expires_at: null,
      enabled: true,
      project_id: project.id,
      last_attestation: null,
    }
    const granted = { granted_at: time, granted_by: admin.id }
    const byScope = (id: string) =>
      Object.fromEntries(of(report, id).map((entry) => [entry.scope_type, entry]))
    expect(byScope(member.id)).toEqual({
      project: {
        ...known,
        ...granted,
        entry_id: expect.any(String),
        scope_type: 'project',
        scope_id: project.id,
        scope_name: 'Project main',
        role: 'maintainer',
        last_activity_at: null,
        flags: ['privileged', 'never_active'],
        recommendation: 'review',
      },
      tenant: {
        ...known,
        ...granted,
        entry_id: expect.any(String),
        scope_type: 'tenant',
        scope_id: project.tenantId,
        scope_name: 'main-tenant',
        role: 'member',
        last_activity_at: null,
        flags: ['never_active'],
        recommendation: 'keep',
      },
      application: {
        ...known,
        granted_at: time,
        granted_by: null,
        entry_id: expect.any(String),
        scope_type: 'application',
        scope_id: project.applicationId,
        scope_name: 'Application of main',
        role: 'normal',
        last_activity_at: null,
        flags: ['never_active', 'unrecorded_grant'],
        recommendation: 'review',
      },
    })
    expect(of(report, tokenId)).toMatchObject([
      {
        principal_type: 'personal_access_token',
        name: 'my laptop',
        email: 'member@example.com',
        scope_type: 'system',
        scope_id: null,
        scope_name: 'System',
        project_id: null,
        role: 'user',
        granted_by: member.id,
        granted_at: time,
        expires_at: '2099-01-01T00:00:00.000Z',
        flags: ['never_active'],
        recommendation: 'keep',
      },
    ])
    expect(byScope(machine.id)).toMatchObject({
      environment: {
        principal_type: 'machine_user',
        name: 'test',
        email: '',
        scope_id: project.environmentId,
        scope_name: 'Development',
        role: 'machine',
        granted_by: admin.id,
        flags: ['never_active'],
      },
      endpoint: {
        scope_id: endpointId,
        scope_name: 'seeded',
        role: 'caller',
        granted_by: null,
        flags: ['never_active', 'unrecorded_grant'],
      },
    })
    expect(of(report, admin.id)).toMatchObject([
      {
        scope_type: 'system',
        role: 'administrator',
        granted_at: null,
        granted_by: null,
        flags: expect.arrayContaining(['privileged', 'unrecorded_grant']),
      },
    ])
  })

  test('[access-review.entry-grant] administrators say who made them one; a role that was changed, who changed it', async () => {
    const chief = await person('chief')
    await service.query(
      admin,
      'mutation($id: ID!) { updateUserSystemRole(id: $id, role: "administrator") { id } }',
      { id: chief.id },
    )
    const worker = await person('worker')
    const added = await members.Project.add(chief, { of: project.id, userID: worker.id, role: 'tester' })
    await members.Project.add(admin, { of: project.id, userID: admin.id, role: 'owner' })
    const before = await read(admin)
    expect(of(before, chief.id)).toMatchObject([
      { role: 'administrator', granted_by: admin.id, granted_at: time },
    ])
    expect(of(before, worker.id)).toMatchObject([{ role: 'tester', granted_by: chief.id }])
    expect(of(before, admin.id).find((one) => one.scope_type === 'project')?.flags).toContain('self_granted')
    await members.Project.update(admin, { id: added.data.row.id, role: 'developer' })
    const after = await read(admin)
    expect(of(after, worker.id)).toMatchObject([{ role: 'developer', granted_by: admin.id }])
    expect(of(after, worker.id)[0]?.entry_id).not.toBe(of(before, worker.id)[0]?.entry_id)
  })

  test('[access-review.deterministic] the same access has the same ids and hash again; activity and names change neither', async () => {
    const idle = await person('idle')
    const [first, again] = [await read(admin), await read(admin)]
    const ids = ({ entries }: typeof first) => entries.map(({ entry_id }) => entry_id)
    expect(ids(again)).toEqual(ids(first))
    expect(new Set(ids(first)).size).toBe(first.entries.length)
    expect(again.population_hash).toBe(first.population_hash)
    expect(again.report_id).not.toBe(first.report_id)
    await sql(`update users set external_name = 'renamed' where id = $1`, [idle.id])
    await sql('insert into user_activity values ($1, now()) on conflict do nothing', [admin.id])
    expect((await read(admin)).population_hash).toBe(first.population_hash)
    const membership = await seedMember(service.sql, idle, 'readonly', { projectId: other.id })
    const more = await read(admin)
    expect(more.population_hash).not.toBe(first.population_hash)
    await sql('delete from user2projects where id = $1', [membership])
    expect((await read(admin)).population_hash).toBe(first.population_hash)
  })

  test('[access-review.deterministic] disabling, an end, and another scope give another hash', async () => {
    const owner = await person('owner of a token')
    const { id: tokenId } = await createToken(service, owner)
    const machine = await createMachine(service, admin, project.environmentId)
    const hashes = [(await read(admin)).population_hash]
    await sql(`update personal_access_tokens set expires_at = now() + interval '5 days' where id = $1`, [
      tokenId,
    ])
    hashes.push((await read(admin)).population_hash)
    await sql('update machine_users set enabled = false where id = $1', [machine.id])
    hashes.push((await read(admin)).population_hash)
    await sql('update personal_access_tokens set revoked = true where id = $1', [tokenId])
    hashes.push((await read(admin)).population_hash)
    expect(of(await read(admin), tokenId)).toEqual([])
    for (const { id } of [project, other])
      hashes.push((await read(admin, `?project_id=${id}`)).population_hash)
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

describe('the scope', () => {
  test('[access-review.report] one project has its own access and nothing else', async () => {
    const there = await person('there')
    await seedMember(service.sql, there, 'owner', { projectId: other.id })
    await seedMember(service.sql, there, 'owner', { projectId: other.id, tenantId: other.tenantId })
    await createMachine(service, admin, other.environmentId)
    const report = await read(admin, `?project_id=${other.id.toUpperCase()}`)
    expect(report.scope).toEqual({ type: 'project', id: other.id, name: 'Project other' })
    expect(report.entries.map((one) => one.scope_type).toSorted()).toEqual([
      'environment',
      'project',
      'tenant',
    ])
    expect(new Set(report.entries.map((one) => one.project_id))).toEqual(new Set([other.id]))
    const whole = await read(admin)
    const ids = new Set(whole.entries.map((one) => one.entry_id))
    expect(report.entries.every((one) => ids.has(one.entry_id))).toBe(true)
  })

  test('an unknown project is 404, a malformed one 400, and so is another format', async () => {
    for (const [query, status] of [
      [`?project_id=${randomUUID()}`, 404],
      ['?project_id=x', 400],
      [`?project_id=${project.id}&project_id=${project.id}`, 400],
      ['?format=xml', 400],
    ] as const) {
      const answer = await ask(admin, query)
      expect([query, answer.status]).toEqual([query, status])
      expect(await answer.json()).toMatchObject({ error: expect.any(String) })
    }
  })
})

describe('flags', () => {
  test('[access-review.entry-grant] say what is dormant, expired, disabled, old or without end', async () => {
    await sql(`update activity_recording set started_at = now() - interval '2 years'`)
    const sleeper = await person('sleeper')
    const sleeps = await seedMember(service.sql, sleeper, 'owner', { projectId: other.id })
    await backdate('user2projects', 200, sleeps, ['created_at', 'updated_at'])
    const awake = await person('awake')
    const wakes = await seedMember(service.sql, awake, 'readonly', { projectId: other.id })
    await backdate('user2projects', 200, wakes, ['created_at', 'updated_at'])
    await sql(`insert into user_activity values ($1, now() - interval '2 days')`, [awake.id])
    const machine = await createMachine(service, admin, other.environmentId)
    await backdate('machine_users', 400, machine.id, ['created_at'])
    await sql('update machine_users set enabled = false, last_rotated_at = null where id = $1', [machine.id])
    const [open, over, soon] = await Promise.all(
      ['open', 'over', 'soon'].map((name) => createToken(service, awake, { name })),
    )
    await backdate('personal_access_tokens', 1, over?.id as string, ['expires_at'])
    await sql(`update personal_access_tokens set expires_at = now() + interval '20 days' where id = $1`, [
      soon?.id,
    ])
    const report = await read(admin)
    const facts = (id: string | undefined) =>
      of(report, id as string).map((one) => [one.flags, one.recommendation, one.enabled])
    expect(facts(sleeper.id)).toEqual([
      [['privileged', 'never_active', 'dormant', 'unrecorded_grant'], 'revoke', true],
    ])
    expect(facts(awake.id)).toEqual([[['unrecorded_grant'], 'review', true]])
    expect(facts(machine.id)).toEqual([
      [['disabled', 'credential_not_rotated', 'never_active', 'dormant'], 'revoke', false],
    ])
    expect(facts(open?.id)).toEqual([[['no_expiry', 'never_active'], 'review', true]])
    expect(facts(over?.id)).toEqual([[['expired', 'never_active'], 'revoke', true]])
    expect(facts(soon?.id)).toEqual([[['expires_soon', 'never_active'], 'keep', true]])
  })

  test('nobody is dormant for a time in which activity was not recorded', async () => {
    await sql('update activity_recording set started_at = now()')
    const report = await read(admin)
    const dormant = report.entries.filter((one) => one.flags.includes('dormant'))
    expect(dormant).toEqual([])
  })
})

test('tenants of a role that was given another name are another access', async () => {
  const tenantId = randomUUID()
  await seedTenant(service.sql, other.id, tenantId, 'renaming')
  const member = await person('renamed role')
  await seedMember(service.sql, member, 'member', { projectId: other.id, tenantId })
  const before = of(await read(admin), member.id)
  await sql(`update tenant_role_definitions set name = 'guest' where tenant_id = $1 and name = 'member'`, [
    tenantId,
  ])
  const after = of(await read(admin), member.id)
  expect([before[0]?.role, after[0]?.role]).toEqual(['member', 'guest'])
  expect(after[0]?.entry_id).not.toBe(before[0]?.entry_id)
})

test('[access-review.consistent] while all connections for reports are in use, and when the database takes too long, it is 503', async () => {
  const { openSnapshot } = service.world.database
  const open = await Promise.all(
    Array.from({ length: service.config.databaseReportPoolSize - 1 }, () => openSnapshot()),
  )
  for (const [query, accept] of [
    ['', 'application/json'],
    ['?format=csv', '*/*'],
    ['', 'text/html'],
  ] as const) {
    const { status, headers } = await ask(admin, query, { accept })
    expect([query, accept, status, headers.get('retry-after')]).toEqual([query, accept, 503, '1'])
  }
  for (const snapshot of open) await snapshot.close()
  const { rows } = await sql('select count(*)::int as n from access_reviews')
  // The first part of the report cannot be read, because another transaction locks the table.
  await whileLocked(service.database.url, ['lock table activity_recording', []], async (commit) => {
    const reading = ask(admin)
    await waitForLockWait(service.sql)
    await sql(
      `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    const { status, headers } = await reading
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    await commit()
  })
  expect((await sql('select count(*)::int as n from access_reviews')).rows).toEqual(rows)
  expect((await ask(admin)).status).toBe(200)
})
