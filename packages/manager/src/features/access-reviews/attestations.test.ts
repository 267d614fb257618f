// These tests cover attestations: their input, scope, rejections, races and retention.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { attestPath, reviewCalls } from '../../../test/kit/access-reviews.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { bearer, call, createToken, throughProxy } from '@manager/harness/credentials.ts'
import { waitForLockWait, whileLocked } from '../../../test/kit/locks.ts'
import { uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember } from '@manager/harness/seed.ts'

const { service, admin, project, other, person, member } = useProject({ withOther: true })
const { read, attest, of } = reviewCalls(() => service)
const sql = async (text: string, values: unknown[] = []) => (await service.sql.query(text, values)).rows
const attestRows = (id: string) =>
  sql(
    `select chain_id, action, user_id, metadata from audit_logs where entity_type = 'accessReview' and entity_id = $1`,
    [id],
  )
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown
const count = async (table: string): Promise<number> =>
  (await sql(`select count(*)::int as n from ${table}`))[0].n

describe('attesting', () => {
  test('[access-review.administrator] needs an administrator, by session or token, behind the gate', async () => {
    const somebody = await member('nobody special', 'owner')
    expect((await attest(somebody, { decision: 'approve' })).status).toBe(403)
    expect((await call(service.url, attestPath, {}, { decision: 'approve' })).status).toBe(401)
    const { token } = await createToken(service, admin)
    const byToken = await call(
      service.url,
      attestPath,
      { ...throughProxy(), ...bearer(token) },
      { decision: 'approve' },
    )
    expect(byToken).toMatchObject({ status: 200, body: { attested_by: admin.id } })
  })

  test('[access-review.attest] [access-review.attest-answer] a report as a whole', async () => {
    const report = await read(admin)
    const { report_id, population_hash } = report
    const answer = await attest(admin, {
      report_id: report_id.toUpperCase(),
      population_hash,
      decision: 'approve',
      comment: 'as every quarter',
    })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        attestation_id: uuid,
        attested_at: time,
        attested_by: admin.id,
        report_id,
        population_hash,
        entries: report.entries.length,
      },
    ])
    const { attestation_id } = answer.body
    expect(await attestRows(attestation_id)).toEqual([
      {
        chain_id: '00000000-0000-0000-0000-000000000000',
        action: 'attest',
        user_id: admin.id,
        metadata: {
          report_id,
          project_id: null,
          population_hash,
          decision: 'approve',
          comment: 'as every quarter',
          entries: report.entries.length,
          names_entries: false,
          entries_digest: null,
        },
      },
    ])
    const rows = await sql('select * from access_attestations where id = $1', [attestation_id])
    expect(rows[0]).toMatchObject({
      created_by: admin.id,
      decision: 'approve',
      comment: 'as every quarter',
      names_entries: false,
    })
  })

  test('[access-review.last-attestation] every entry of a whole attestation shows it, the newest one, and a new access none', async () => {
    const { report_id } = await read(admin)
    const first = (await attest(admin, { report_id, decision: 'approve' })).body
    const shown = await read(admin)
    expect(shown.entries.length).toBeGreaterThan(1)
    for (const entry of shown.entries)
      expect(entry.last_attestation).toEqual({
        attestation_id: first.attestation_id,
        attested_at: first.attested_at,
        attested_by: admin.id,
        decision: 'approve',
      })
    const second = (await attest(admin, { decision: 'modify' })).body
    const newcomer = await member('newcomer', 'tester')
    const again = await read(admin)
    for (const entry of again.entries.filter((one) => one.principal_id !== newcomer.id))
      expect(entry.last_attestation).toMatchObject({
        attestation_id: second.attestation_id,
        decision: 'modify',
      })
    expect(of(again, newcomer.id).map((one) => one.last_attestation)).toEqual([null])
    await sql(`update user2projects set role = 'owner' where user_id = $1`, [newcomer.id])
    expect(of(await read(admin), newcomer.id)[0]?.last_attestation).toBeNull()
  })

  test('[access-review.attest] [access-review.last-attestation] single entries with their own decisions, and no others', async () => {
    const [kept, gone, untouched] = await Promise.all(
      ['kept', 'gone', 'untouched'].map((name) => member(name, 'developer')),
    )
    const report = await read(admin)
    const idOf = (id: string | undefined) => of(report, id as string)[0]?.entry_id as string
    const entries = [
      { entry_id: idOf(kept?.id), decision: 'approve', justification: 'works on it' },
      { entry_id: idOf(gone?.id), decision: 'revoke', justification: 'has left the team' },
    ]
    const { status, body } = await attest(admin, { report_id: report.report_id, decision: 'modify', entries })
    expect([status, body.entries]).toEqual([200, 2])
    const after = await read(admin)
    const decisionOf = (id: string | undefined) =>
      of(after, id as string)[0]?.last_attestation?.['decision'] ?? null
    expect([kept, gone, untouched].map((one) => decisionOf(one?.id))).toEqual(['approve', 'revoke', null])
    // The attestation did not revoke any access.
    expect(after.population_hash).toBe(report.population_hash)
    const stored = await sql(
      `select encode(entry_id, 'hex') as entry_id, decision, justification from access_attestation_entries where attestation_id = $1`,
      [body.attestation_id],
    )
    expect(stored).toEqual(expect.arrayContaining(entries))
    const [row] = await attestRows(body.attestation_id)
    expect(row.metadata).toMatchObject({
      entries: 2,
      names_entries: true,
      entries_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('[access-review.attest] without report and hash it is about the system as it is; of a project, in its chain', async () => {
    const whole = await attest(admin, { decision: 'approve' })
    const { population_hash, entries } = await read(admin)
    expect(whole.body).toMatchObject({ report_id: null, population_hash, entries: entries.length })
    const there = await person('there')
    await seedMember(service.sql, there, 'owner', { projectId: other.id })
    const report = await read(admin, `?project_id=${other.id}`)
    const { body } = await attest(admin, { report_id: report.report_id, decision: 'approve' })
    expect(body).toMatchObject({ entries: 1, population_hash: report.population_hash })
    expect(await attestRows(body.attestation_id)).toMatchObject([
      { chain_id: other.id, metadata: { project_id: other.id } },
    ])
    expect(of(await read(admin), there.id)[0]?.last_attestation?.['attestation_id']).toBe(body.attestation_id)
  })
})

describe('refusals', () => {
  test('[access-review.attest-population] another population answers 409, and leaves nothing', async () => {
    const report = await read(admin)
    await member('after the report', 'readonly')
    const before = [await count('access_attestations'), await count('access_entry_attestations')]
    for (const given of [
      { report_id: report.report_id },
      { population_hash: report.population_hash },
      { report_id: report.report_id, population_hash: report.population_hash },
    ]) {
      const { status, body } = await attest(admin, { ...given, decision: 'approve' })
      expect([status, body.code]).toEqual([409, 'conflict'])
      expect(body.error).toContain('request a new report')
    }
    const now = await read(admin)
    const mixed = { report_id: now.report_id, population_hash: report.population_hash, decision: 'approve' }
    expect((await attest(admin, mixed)).status).toBe(409)
    const ofProject = await read(admin, `?project_id=${project.id}`)
    const wrongScope = {
      report_id: ofProject.report_id,
      population_hash: now.population_hash,
      decision: 'approve',
    }
    expect((await attest(admin, wrongScope)).status).toBe(409)
    expect([await count('access_attestations'), await count('access_entry_attestations')]).toEqual(before)
    expect((await attest(admin, { report_id: now.report_id, decision: 'approve' })).status).toBe(200)
  })

  test('[access-review.attest-population] a role of a tenant that permits something else is another population, its order is not', async () => {
    const role = randomUUID()
    await sql(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions)
       values ($1, $2, $3, 'steward', '{apps.read,invites}')`,
      [role, project.id, project.tenantId],
    )
    const steward = await person('steward')
    await seedMember(service.sql, steward, 'steward', { projectId: project.id, tenantId: project.tenantId })
    const permit = (permissions: string) =>
      sql('update tenant_role_definitions set permissions = $2 where id = $1', [role, permissions])
    for (const scope of ['', `?project_id=${project.id}`]) {
      const { report_id } = await read(admin, scope)
      const attestWith = async (permissions: string) => {
        await permit(permissions)
        return (await attest(admin, { report_id, decision: 'approve' })).status
      }
      expect(await attestWith('{apps.read,apps.configure,members,invites}')).toBe(409)
      expect(await attestWith('{}')).toBe(409)
      expect(await attestWith('{invites,apps.read}')).toBe(200)
    }
  })

  test('[access-review.attest] an unknown report is 404, an unknown entry 400 and named, a wrong form 400', async () => {
    expect((await attest(admin, { report_id: randomUUID(), decision: 'approve' })).status).toBe(404)
    const unknown = 'ab'.repeat(16)
    const named = await attest(admin, {
      decision: 'approve',
      entries: [{ entry_id: unknown, decision: 'approve', justification: '' }],
    })
    expect([named.status, named.body.error]).toEqual([
      400,
      `entries: ${unknown} is not an entry of the current population`,
    ])
    const entry_id = (await read(admin)).entries[0]?.entry_id
    const one = { entry_id, decision: 'approve', justification: 'x' }
    const before = await count('access_attestations')
    for (const wrong of [
      {},
      { decision: 'perhaps' },
      { decision: 'approve', report_id: 'x' },
      { decision: 'approve', population_hash: 'AB' },
      { decision: 'approve', comment: 'x'.repeat(2_001) },
      { decision: 'approve', comment: 'a\u0000b' },
      { decision: 'approve', entries: [] },
      { decision: 'approve', entries: [one, one] },
      { decision: 'approve', entries: [{ ...one, decision: 'keep' }] },
      { decision: 'approve', entries: [{ ...one, justification: 'x'.repeat(1_001) }] },
      { decision: 'approve', entries: [{ ...one, entry_id: 'x' }] },
      { decision: 'approve', entries: Array.from({ length: 10_001 }, () => one) },
    ])
      expect([JSON.stringify(wrong).slice(0, 100), (await attest(admin, wrong)).status]).toEqual([
        JSON.stringify(wrong).slice(0, 100),
        400,
      ])
    expect(await count('access_attestations')).toBe(before)
  })

  test('a page of another site cannot send it: nothing but JSON is taken', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const headers = { ...headersOf(admin), 'content-type': type }
      const { status } = await fetch(service.url + attestPath, {
        method: 'POST',
        headers,
        body: '{"decision":"approve"}',
      })
      expect([type, status]).toEqual([type, 415])
    }
  })

  test('a body of more than 4 MiB is refused', async () => {
    const { status, body } = await attest(admin, { decision: 'approve', comment: 'x'.repeat(4_200_000) })
    expect([status, body.code]).toEqual([413, 'payload_too_large'])
  })

  test('what was attested cannot be changed', async () => {
    await attest(admin, { decision: 'approve' })
    for (const text of [
      'delete from access_attestations',
      `update access_attestations set decision = 'revoke'`,
      'delete from access_attestation_entries',
    ])
      await expect(service.sql.query(text)).rejects.toThrow('append-only')
  })
})

describe('races', () => {
  test('[access-review.attest-population] a grant that comes into the chain while it is attested is no part of it: 409', async () => {
    const first = await read(admin, `?project_id=${project.id}`)
    expect((await attest(admin, { report_id: first.report_id, decision: 'approve' })).status).toBe(200)
    const report = await read(admin, `?project_id=${project.id}`)
    // A grant that is not committed yet locks the head of the chain, as every grant does.
    const grant = `
      with made as (insert into users (id, external_username) values (gen_random_uuid(), 'late') returning id),
      granted as (insert into user2projects (id, project_id, user_id, role) select id, $1, id, 'owner' from made),
      head as (update audit_chains set seq = seq + 1 where chain_id = $1 returning seq)
      insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, ip_address,
        user_agent, created_at, prev_hash, hash)
      select $1, seq, gen_random_uuid(), 'user2project', 'late', 'grant', '', '{}', '{}', '', '', now(), '', '' from head`
    await whileLocked(service.database.url, [grant, [project.id]], async (commit) => {
      const attesting = attest(admin, { report_id: report.report_id, decision: 'approve' })
      // The attestation has read the population and waits for the lock on the chain.
      await waitForLockWait(service.sql)
      await commit()
      expect((await attesting).status).toBe(409)
    })
    const again = await read(admin, `?project_id=${project.id}`)
    expect((await attest(admin, { report_id: again.report_id, decision: 'approve' })).status).toBe(200)
  })

  test('who loses the role while they attest is refused', async () => {
    const chief = await person('chief')
    await sql(`update users set role = 'administrator' where id = $1`, [chief.id])
    const demotion = `update users set role = 'user' where id = $1`
    await whileLocked(service.database.url, [demotion, [chief.id]], async (commit) => {
      const attesting = attest(chief, { decision: 'approve' })
      await waitForLockWait(service.sql)
      await commit()
      expect((await attesting).status).toBe(403)
    })
  })
})

describe('what is kept', () => {
  test('reports that nobody attested go after 400 days by the clock of the database', async () => {
    const [old, attested, young] = [await read(admin), await read(admin), await read(admin)]
    await attest(admin, { report_id: attested.report_id, decision: 'approve' })
    await sql(`update access_reviews set created_at = now() - interval '401 days' where id = any($1)`, [
      [old.report_id, attested.report_id],
    ])
    const schedule = service.app.schedules.find(({ name }) => name === 'access-reviews')
    await schedule?.run()
    const left = await sql('select id from access_reviews where id = any($1)', [
      [old, attested, young].map((one) => one.report_id),
    ])
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([attested.report_id, young.report_id]))
    expect((await attest(admin, { report_id: old.report_id, decision: 'approve' })).status).toBe(404)
  })
})
