// These tests cover triggers through GraphQL: reads, changes and permissions. trigger-plans.test.ts covers planning.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { expectRefused, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { seedTrigger, triggerCalls, triggerFields } from '../../../test/kit/triggers.ts'

const { service, admin, project } = useProject()
const { create, update, remove, list, get, auditOf } = triggerCalls(() => service)

const full = {
  name: 'Night run',
  description: 'Closes the day',
  cronExpression: 'CRON_TZ=Europe/Berlin 30 2 * * mon-fri',
  runKey: 'close-day',
  enabled: false,
}
const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
const newApplication = async (of: SeededProject, slug: string): Promise<string> => {
  const id = randomUUID()
  await service.sql.query('insert into applications (id, project_id, name, slug) values ($1, $2, $3, $3)', [
    id,
    of.id,
    slug,
  ])
  return id
}
const memberOf = async (role: string | null, of: object = {}): Promise<Person> => {
  const person = await seedUser(service.sql, role ?? 'outsider')
  if (role !== null) await seedMember(service.sql, person, role, { projectId: project.id, ...of })
  return person
}

describe('reading triggers', () => {
  test('[triggers.fields] a trigger shows what it was made with, and when', async () => {
    const { data } = await create(admin, project.applicationId, full)
    expect(data.row).toEqual({ id: uuid, ...full, createdAt: time, updatedAt: time })
    const found = await get(admin, data.row.id as string, `${triggerFields} application { id }`)
    expect(found.data.row).toEqual({ ...data.row, application: { id: project.applicationId } })
  })

  test('[triggers.queries] the list, the list of the application and the single row tell the same, of one application', async () => {
    const own = await seedProject(service.sql, 'read')
    const sibling = await newApplication(own, 'sibling')
    const made = []
    for (const name of ['c', 'a', 'b'])
      made.push((await create(admin, own.applicationId, { ...full, name })).data.row)
    const elsewhere = (await create(admin, sibling, full)).data.row
    expect((await list(admin, own.applicationId)).data.rows).toEqual(made)
    const { data } = await service.query(
      admin,
      `{ application(projectId: "${own.id}", slug: "${own.applicationSlug}") { triggers { ${triggerFields} } } }`,
    )
    expect(data.application.triggers).toEqual(made)
    expect((await list(admin, sibling)).data.rows).toEqual([elsewhere])
    for (const row of made) expect((await get(admin, row.id as string)).data.row).toEqual(row)
    expect((await list(admin, await newApplication(own, 'empty'))).data.rows).toEqual([])
  })

  test('[triggers.queries] the list is filtered and ordered by what a trigger shows', async () => {
    const own = await seedProject(service.sql, 'filtered')
    for (const input of [
      { name: 'Nightly', cronExpression: '@daily', runKey: 'night' },
      { name: 'Weekly', cronExpression: '0 0 * * sun', enabled: false, description: 'on Sundays' },
    ])
      await create(admin, own.applicationId, input)
    const by = async (field: string, value: string): Promise<string[]> => {
      const { data } = await service.query(
        admin,
        'query($id: ID!, $filters: [Filter!]) { rows: triggers(application: $id, filters: $filters) { name } }',
        { id: own.applicationId, filters: { field, value } },
      )
      return data.rows.map((row: { name: string }) => row.name)
    }
    expect(await by('name', 'LY')).toEqual(['Nightly', 'Weekly'])
    expect(await by('description', 'sunday')).toEqual(['Weekly'])
    expect(await by('cronExpression', '@daily')).toEqual(['Nightly'])
    expect(await by('runKey', 'night')).toEqual(['Nightly'])
    expect(await by('enabled', 'false')).toEqual(['Weekly'])
    const { error } = await service.query(
      admin,
      `{ triggers(application: "${own.applicationId}", order: {field: "nextFireAt"}) { id } }`,
    )
    expect(error).toBe(
      'unknown order field "nextFireAt"; allowed: id, name, description, cronExpression, runKey, enabled, createdAt, updatedAt',
    )
  })

  test('[triggers.queries] what is unknown is not found', async () => {
    for (const unknown of [randomUUID(), 'nothing', project.applicationId])
      expect((await get(admin, unknown)).error).toBe('trigger not found')
    for (const unknown of [randomUUID(), 'nothing', project.id])
      expect((await list(admin, unknown)).error).toBe('application not found')
  })

  test('triggers of many applications, and the way back, cost as many statements as those of one', async () => {
    const counts = []
    for (const [slug, applications] of [
      ['one', 1],
      ['many', 20],
    ] as const) {
      const own = await seedProject(service.sql, slug)
      for (let index = 0; index < applications; index++) {
        const applicationId = index === 0 ? own.applicationId : await newApplication(own, `${slug}-${index}`)
        await seedTrigger(service.sql, { ...own, applicationId })
      }
      service.statements.length = 0
      const { data } = await service.query(
        admin,
        `{ applications(projectSlug: "${slug}") { triggers { id nextRuns application { id } } } }`,
      )
      expect(data.applications).toHaveLength(applications)
      counts.push(service.statements.length)
    }
    expect(counts[1]).toBe(counts[0])
  })
})

describe('the life of a trigger', () => {
  test('[triggers.create] name and expression are enough; the rest is empty, and the trigger enabled', async () => {
    const { data } = await create(admin, project.applicationId, { name: 'Short', cronExpression: '@hourly' })
    expect(data.row).toMatchObject({ description: '', runKey: '', enabled: true })
    const nulls = { description: null, runKey: null, enabled: null }
    const same = await create(admin, project.applicationId, {
      name: 'Short',
      cronExpression: '@hourly',
      ...nulls,
    })
    expect(same.data.row).toMatchObject({ description: '', runKey: '', enabled: true })
  })

  test('[triggers.create] lengths are limited', async () => {
    const limits = { name: 100, description: 2_000, runKey: 200 }
    for (const [field, length] of Object.entries(limits)) {
      const { data } = await create(admin, project.applicationId, { ...full, [field]: '𝄞'.repeat(length) })
      expect(Array.from(data.row[field] as string)).toHaveLength(length)
      const { error } = await create(admin, project.applicationId, {
        ...full,
        [field]: 'x'.repeat(length + 1),
      })
      expect(error).toContain(`${field} must have`)
    }
    expect((await create(admin, project.applicationId, { ...full, name: ' ' })).error).toContain('name must')
    expect((await create(admin, project.applicationId, { ...full, runKey: '\u0000' })).error).toContain(
      'runKey must not contain control characters',
    )
  })

  test('[triggers.create] an application that does not exist is not found', async () => {
    expect((await create(admin, randomUUID(), full)).error).toBe('application not found')
  })

  test('[triggers.update-delete] an update changes what it names, is recorded, and a deletion removes the trigger', async () => {
    const { data } = await create(admin, project.applicationId, full)
    const id = data.row.id as string
    const changed = await update(admin, id, { name: 'Renamed', runKey: 'other' })
    expect(changed.data.row).toEqual({ ...data.row, name: 'Renamed', runKey: 'other', updatedAt: time })
    expect((await get(admin, id)).data.row).toEqual(changed.data.row)
    expect((await remove(admin, id)).data.done).toBe(true)
    expect((await get(admin, id)).error).toBe('trigger not found')
    expect((await update(admin, id, { name: 'x' })).error).toBe('trigger not found')
    expect((await remove(admin, id)).error).toBe('trigger not found')
    expect(await auditOf(id)).toMatchObject([
      { action: 'create', user_id: admin.id },
      {
        action: 'update',
        changes: {
          name: { before: full.name, after: 'Renamed' },
          runKey: { before: 'close-day', after: 'other' },
        },
      },
      { action: 'delete' },
    ])
  })

  test('[triggers.update-delete] a trigger goes with its application', async () => {
    const own = await seedProject(service.sql, 'gone')
    const id = await seedTrigger(service.sql, own)
    const { error } = await service.query(admin, 'mutation($id: ID!) { deleteApplication(id: $id) }', {
      id: own.applicationId,
    })
    expect(error).toBeNull()
    expect((await get(admin, id)).error).toBe('trigger not found')
  })
})

describe('the expression', () => {
  test('[triggers.cron-checked] one that is wrong is refused on save, with what is wrong, and nothing is saved', async () => {
    const id = await seedTrigger(service.sql, project)
    const before = (await get(admin, id)).data.row
    for (const [cronExpression, problem] of [
      ['* * * *', 'cronExpression has 4 fields and must have 5'],
      ['61 * * * *', 'cronExpression has 61 as minute; use 0 to 59'],
      ['0 0 31 2 *', 'cronExpression never fires'],
      ['CRON_TZ=Mars/Olympus @daily', 'cronExpression has an unknown time zone "Mars/Olympus"'],
      ['@reboot', 'cronExpression has an unknown macro "@reboot"'],
      ['', 'cronExpression must have 1 to 200 characters'],
      [`${'0,'.repeat(100)}0 * * * *`, 'cronExpression must have 1 to 200 characters'],
    ] as const)
      for (const enabled of [true, false]) {
        const made = await create(admin, project.applicationId, { ...full, cronExpression, enabled })
        expect(made.error).toContain(problem)
        expect((await update(admin, id, { cronExpression, enabled })).error).toContain(problem)
      }
    expect((await get(admin, id)).data.row).toEqual(before)
  })

  test('[triggers.cron-grammar] names, lists, ranges, steps, macros and zones are saved as they are written', async () => {
    for (const cronExpression of [
      '*/15 8-18/2 1,15 JAN-jun Mon-5',
      '@yearly',
      'CRON_TZ=America/New_York @weekly',
      '0  6\t* * 7',
    ]) {
      const { data } = await create(admin, project.applicationId, { ...full, cronExpression })
      expect(data.row.cronExpression).toBe(cronExpression)
    }
  })

  test('one that is older than a rule does not hinder other changes, and is named when it shall be planned', async () => {
    const id = await seedTrigger(service.sql, project)
    await service.sql.query('update triggers set cron_expression = $2 where id = $1', [id, '0 0 31 2 *'])
    expect((await update(admin, id, { name: 'still editable' })).error).toBeNull()
    expect((await update(admin, id, { enabled: false })).error).toBeNull()
    expect((await update(admin, id, { enabled: true })).error).toContain('cronExpression never fires')
  })
})

describe('who may do what', () => {
  test.each(['developer', 'maintainer', 'owner'])('[triggers.role] a %s may write triggers', async (role) => {
    const person = await memberOf(role)
    const { data, error } = await create(person, project.applicationId, full)
    expect(error).toBeNull()
    expect((await update(person, data.row.id as string, { enabled: true })).error).toBeNull()
    expect((await remove(person, data.row.id as string)).error).toBeNull()
  })

  test.each(['readonly', 'tester'])(
    '[triggers.role] a %s reads triggers and may not write them',
    async (role) => {
      const person = await memberOf(role)
      const id = await seedTrigger(service.sql, project)
      expect((await get(person, id)).error).toBeNull()
      expectRefused(await create(person, project.applicationId, full), 'forbidden')
      expectRefused(await update(person, id, { name: 'x' }), 'forbidden')
      expectRefused(await remove(person, id), 'forbidden')
      expect((await get(admin, id)).data.row.name).toBe('seeded')
    },
  )

  test('[triggers.role] to members of a tenant or an application alone, and to others, triggers do not exist', async () => {
    const id = await seedTrigger(service.sql, project)
    for (const person of [
      await memberOf('owner', { tenantId: project.tenantId }),
      await memberOf('normal', { applicationId: project.applicationId }),
      await memberOf(null),
    ]) {
      expect((await get(person, id)).error).toBe('trigger not found')
      expect((await update(person, id, { name: 'x' })).error).toBe('trigger not found')
      expect((await remove(person, id)).error).toBe('trigger not found')
    }
  })
})
