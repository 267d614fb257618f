// Tests which objects a search finds, and that it finds only objects that the caller may see.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { seedMember, seedProject, seedTenant } from '@manager/harness/seed.ts'
import { seedCall, seedCaller, seedCalls } from '../../../test/kit/esb-calls.ts'
import { type Hit, kindsOf, textKinds, useSearch } from '../../../test/kit/search.ts'
import { seedPilet } from '../../../test/kit/seeded-pilets.ts'
import { seedRuns, seedTrigger } from '../../../test/kit/triggers.ts'

const {
  service,
  admin,
  project,
  other,
  person,
  own,
  others,
  reader,
  tenantMember,
  applicationMember,
  search,
  find,
} = useSearch()

describe('a part of a text', () => {
  test('finds objects of every kind for an administrator, in all projects or in one', async () => {
    const all = await find(admin, 'QUOKKA')
    expect(kindsOf(all)).toEqual([...textKinds, ...textKinds, 'user'].toSorted())
    const inOne = await find(admin, 'quokka', { projectId: other.id })
    expect(kindsOf(inOne)).toEqual(textKinds)
    expect([...new Set(inOne.map(({ projectId }) => projectId))]).toEqual([other.id])
    expect(Object.fromEntries(inOne.map(({ kind, id }) => [kind, id]))).toEqual(
      Object.fromEntries(textKinds.map((kind) => [kind, others[kind]])),
    )
  })

  test('finds only objects of the own projects, and users of these, for a member', async () => {
    const hits = await find(reader, 'quokka')
    expect(kindsOf(hits)).toEqual([...textKinds, 'user'].toSorted())
    for (const { kind, id } of hits) expect(id).toBe(kind === 'user' ? reader.id : own[kind])
    // Users of other projects are not found by any of their fields.
    await seedMember(service.sql, await person('wombat'), 'owner', { projectId: other.id })
    expect(await find(reader, 'wombat')).toEqual([])
    expect(kindsOf(await find(admin, 'wombat@example'))).toEqual(['user'])
  })

  test('finds only the own tenant or application, and its project, for other callers', async () => {
    const ofTenant = await find(tenantMember, 'quokka')
    expect(new Set(ofTenant.map(({ id }) => id))).toEqual(new Set([own['project'], own['tenant']]))
    const ofApplication = await find(applicationMember, 'quokka')
    expect(new Set(ofApplication.map(({ id }) => id))).toEqual(new Set([own['project'], own['application']]))
    expect(await find(await person('stranger'), 'quokka')).toEqual([])
    // Callers find their own user, as in the list of users.
    expect(kindsOf(await find(tenantMember, 'tenant-only'))).toEqual(['user'])
  })

  test('finds no tenant whose role does not permit reading it, but its project', async () => {
    const [{ id: projectId }, tenantId] = [await seedProject(service.sql, 'numbat'), randomUUID()]
    await seedTenant(service.sql, projectId, tenantId, 'numbat-two')
    await service.sql.query(
      `insert into tenant_role_definitions (id, project_id, tenant_id, name, permissions) values ($1, $2, $3, 'invitee', '{invites}')`,
      [randomUUID(), projectId, tenantId],
    )
    const invitee = await person('invitee')
    await seedMember(service.sql, invitee, 'invitee', { projectId, tenantId })
    expect(kindsOf(await find(invitee, 'numbat'))).toEqual(['project'])
    expect(await find(invitee, tenantId)).toEqual([])
  })

  test('shows the ids that address an object, and the field that matches', async () => {
    const hits = await find(reader, 'quokka')
    const of = (kind: string) => hits.find((hit) => hit.kind === kind)
    const none = { applicationId: null, environmentId: null, endpointId: null, triggerId: null }
    expect(of('tenant')).toEqual({
      ...none,
      kind: 'tenant',
      id: project.tenantId,
      title: 'Quokka tenant of main',
      subtitle: 'main-tenant',
      matchedField: 'name',
      projectId: project.id,
    })
    expect(of('endpoint')).toMatchObject({ applicationId: project.applicationId, matchedField: 'name' })
    expect(of('machineUser')).toMatchObject({
      environmentId: project.environmentId,
      title: 'Quokka backend',
      subtitle: 'quokka-user',
    })
    expect(of('user')).toMatchObject({ ...none, projectId: null, subtitle: 'quokka-reader@example.com' })
    const [byRunKey] = await find(reader, 'ightly-quok')
    expect(byRunKey).toMatchObject({ kind: 'trigger', matchedField: 'runKey', subtitle: 'nightly-quokka' })
    const [bySlug] = await find(reader, 'main-tenant')
    expect(bySlug).toMatchObject({ kind: 'tenant', matchedField: 'slug' })
    const [byEmail] = await find(reader, 'reader@example.com')
    expect(byEmail).toMatchObject({ kind: 'user', matchedField: 'externalUsername' })
  })

  test('finds the newest version of a pilet once', async () => {
    const { id } = await seedProject(service.sql, 'versions')
    for (const version of ['1.0.0', '1.1.0', '1.2.0'])
      await seedPilet(service.sql, { id }, { name: 'bilby', version })
    const ids = ['01', '02', '03'].map((end) => `019a0000-0000-7000-8000-0000000000${end}`)
    for (const [index, version] of ['1.1.0', '1.0.0', '1.2.0'].entries())
      await service.sql.query('update pilet_packages set id = $3 where project_id = $1 and version = $2', [
        id,
        version,
        ids[index],
      ])
    expect(await find(admin, 'bilby')).toMatchObject([{ title: 'bilby', subtitle: '1.2.0', id: ids[2] }])
    expect(await find(admin, ids[1] as string)).toMatchObject([{ kind: 'piletPackage', subtitle: '1.0.0' }])
  })

  test('is taken literally: wildcards, quotes, bidirectional controls and spaces around it', async () => {
    const { id, tenantId } = await seedProject(service.sql, 'literal')
    const names = [
      'Rate 100%',
      'rate 1000',
      'under_score',
      'underXscore',
      'back\\slash',
      "O'Hara $1",
      'safe\u202Etxt.exe',
      'ÄPFEL',
    ]
    await service.sql.query('delete from tenants where id = $1', [tenantId])
    for (const [index, name] of names.entries()) {
      const tenant = randomUUID()
      await seedTenant(service.sql, id, tenant, `literal-${index}`)
      await service.sql.query('update tenants set name = $2 where id = $1', [tenant, name])
    }
    const member = await person('literalist')
    await seedMember(service.sql, member, 'readonly', { projectId: id })
    for (const [text, found] of [
      ['100%', ['Rate 100%']],
      ['rate%', []],
      ['r%e', []],
      ['der_sc', ['under_score']],
      ['___', null],
      ['%%%', null],
      ['%_\\', null],
      ['back\\slash', ['back\\slash']],
      ['backslash', []],
      ["o'hara $1", ["O'Hara $1"]],
      ['safe\u202E', ['safe\u202Etxt.exe']],
      ['safetxt', []],
      ['  äpfel ', ['ÄPFEL']],
    ] as const)
      for (const caller of [member, admin]) {
        const { data, error } = await search(caller, text, { kinds: ['tenant'], projectId: id })
        const isRefused = error?.includes('three consecutive letters or digits') === true
        const titles = isRefused ? null : data.found.hits.map(({ title }: Hit) => title)
        expect([text, titles]).toEqual([text, found])
      }
  })
})

describe('an id', () => {
  test('finds the object of its kind, whatever its case, for callers who see it', async () => {
    for (const kind of [...textKinds, 'environment', 'triggerRun']) {
      const [mine, theirs] = [own[kind] as string, others[kind] as string]
      for (const text of [mine, ` ${mine.toUpperCase()} `]) {
        const hits = await find(reader, text)
        expect([kind, hits.length]).toEqual([kind, 1])
        expect(hits[0]).toMatchObject({ kind, id: mine, matchedField: 'id', projectId: project.id })
      }
      expect([kind, await find(reader, theirs)]).toEqual([kind, []])
      expect(await find(admin, theirs)).toMatchObject([{ kind, id: theirs }])
      expect([kind, await find(admin, theirs, { projectId: project.id })]).toEqual([kind, []])
      const seenCount = kind === 'project' || kind === 'tenant' ? 1 : 0
      expect([kind, (await find(tenantMember, mine)).length]).toEqual([kind, seenCount])
    }
    expect(await find(reader, reader.id)).toMatchObject([{ kind: 'user', id: reader.id }])
    expect(await find(reader, tenantMember.id)).toEqual([])
    expect(await find(admin, tenantMember.id)).toMatchObject([{ kind: 'user' }])
    expect(await find(admin, (own['tenant'] as string).slice(0, 30))).toEqual([])
  })

  test('leads from a run to its trigger, unless the trigger is deleted', async () => {
    const [run] = await find(reader, own['triggerRun'] as string)
    expect(run).toMatchObject({
      title: 'seeded',
      subtitle: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
      triggerId: own['trigger'],
      applicationId: project.applicationId,
      environmentId: project.environmentId,
    })
    const triggerId = await seedTrigger(service.sql, project)
    const { id: projectId, applicationId, environmentId } = project
    await seedRuns(
      service.sql,
      { projectId, applicationId, triggerId, environmentId },
      { count: 1, until: new Date() },
    )
    const { rows } = await service.sql.query<{ id: string }>(
      'select id from trigger_runs where trigger_id = $1',
      [triggerId],
    )
    await service.sql.query('delete from triggers where id = $1', [triggerId])
    expect(await find(admin, rows[0]?.id as string)).toEqual([])
  })

  test('of a request finds its calls in the projects of the caller only, although other callers chose the same id', async () => {
    expect(await find(reader, 'quokka.call-1')).toMatchObject([
      {
        kind: 'loggedCall',
        id: own['loggedCall'],
        title: 'POST /orders',
        subtitle: 'quokka.call-1',
        matchedField: 'requestId',
        applicationId: project.applicationId,
        endpointId: own['endpoint'],
      },
    ])
    expect(await find(admin, 'quokka.call-1')).toHaveLength(2)
    expect(await find(admin, 'quokka.call-1', { projectId: other.id })).toMatchObject([
      { id: others['loggedCall'] },
    ])
    expect(await find(admin, 'quokka.call')).toEqual([])
    for (const caller of [tenantMember, applicationMember])
      expect(await find(caller, 'quokka.call-1')).toEqual([])
    // Many calls of another project with the same request id do not hide a call.
    const mine = {
      projectId: project.id,
      endpointId: own['endpoint'] as string,
      machineUserId: own['machineUser'] as string,
    }
    const theirs = await seedCaller(service.sql, other)
    const shared = await seedCall(service.sql, mine, { requestId: 'shared' })
    await seedCalls(service.sql, theirs, { count: 600 })
    await service.sql.query(`update esb_audit_logs set request_id = 'shared' where endpoint_id = $1`, [
      theirs.endpointId,
    ])
    expect(await find(reader, 'shared')).toMatchObject([{ id: shared }])
    expect(await find(tenantMember, 'shared')).toEqual([])
    expect(await find(admin, 'shared', { projectId: project.id })).toMatchObject([{ id: shared }])
    expect((await search(admin, 'shared')).data.found.isComplete).toBe(false)
    // Request ids may be short, or UUIDs.
    for (const requestId of ['7', randomUUID()]) {
      const id = await seedCall(service.sql, mine, { requestId })
      expect(await find(reader, requestId, { kinds: ['loggedCall'] })).toMatchObject([{ id }])
    }
  })
})
