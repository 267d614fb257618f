// These tests cover packages over GraphQL, which serves everything except their bytes.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { chainRows } from '../../../test/kit/audit-rows.ts'
import { seedPilet } from '../../../test/kit/seeded-pilets.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, project, other, admin, member } = useProject({ withOther: true })

let [reader, tester, developer] = [{} as Person, {} as Person, {} as Person]
beforeAll(async () => {
  reader = await member('reader', 'readonly')
  tester = await member('tester', 'tester')
  developer = await member('developer', 'developer')
})

const fields = 'id name version description size hash enabled createdAt updatedAt'
const keyOf = (name: string, version = '1.0.0'): string =>
  `projectId: "${project.id}", name: "${name}", version: "${version}"`
const find = (person: Person, name: string, version?: string) =>
  service.query(person, `{ piletPackage(${keyOf(name, version)}) { ${fields} } }`)
const change = (person: Person, call: string) =>
  service.query(person, `mutation { row: ${call} { ${fields} } }`)
const auditOf = async (id: string) =>
  (await chainRows(service, project.id)).filter(({ entity_id }) => entity_id === id)

describe('reading', () => {
  test('[pilets.fields] [pilets.graphql-read] a package shows what was uploaded', async () => {
    const upload = { projectId: project.id, name: '@acme/read', version: '1.0.0', query: '?description=d' }
    const { body } = await uploadPilet(service, developer, upload)
    const { data, error } = await find(reader, '@acme/read')
    expect(error).toBeNull()
    const at = expect.stringMatching(/^\d{4}-.*Z$/)
    const { id, name, version, size, hash } = body
    expect(data.piletPackage).toEqual({
      id,
      name,
      version,
      size,
      hash,
      description: 'd',
      enabled: true,
      createdAt: at,
      updatedAt: at,
    })
    for (const [unknown, missing] of [
      ['@acme/read', '1.0.1'],
      ['nothing', '1.0.0'],
      ['\\u0000', '1.0.0'],
      ['@acme/read', 'latest'],
    ] as const)
      expect((await find(reader, unknown, missing)).error).toBe('package not found')
  })

  test('[pilets.graphql-read] a list has all packages in order, or those that are enabled or not, or a page', async () => {
    const all = ['1.0.0-rc.1', '1.0.0', '1.2.0', '1.10.0']
    for (const version of all.toReversed())
      await seedPilet(service.sql, other, { name: 'listed', version, enabled: version !== '1.2.0' })
    const list = async (more: string) => {
      const { data, error } = await service.query(
        admin,
        `{ piletPackages(projectId: "${other.id}"${more}) { count packages { version } } }`,
      )
      if (error !== null) return error
      return [
        data.piletPackages.count,
        data.piletPackages.packages.map((one: { version: string }) => one.version),
      ]
    }
    expect(await list('')).toEqual([4, all])
    expect(await list(', enabled: null, pagination: null')).toEqual([4, all])
    expect(await list(', enabled: true')).toEqual([3, all.filter((version) => version !== '1.2.0')])
    expect(await list(', enabled: false')).toEqual([1, ['1.2.0']])
    expect(await list(', pagination: {limit: 1, offset: 2}')).toEqual([4, ['1.2.0']])
    expect(await list(', enabled: true, pagination: {limit: 10, offset: 2}')).toEqual([3, ['1.10.0']])
    expect(await list(', pagination: {limit: 3, offset: 0}')).toBe(
      'pagination limit must be one of 1, 10, 20, 25, 50, 100',
    )
  })

  test('[pilets.graphql-read] [lists.arguments] a list is filtered and ordered, versions by precedence; the count is that of all pages', async () => {
    const list = async (more: string) => {
      const { data, error } = await service.query(
        admin,
        `{ piletPackages(projectId: "${project.id}"${more}) { count packages { name version } } }`,
      )
      if (error !== null) return error
      const { count, packages } = data.piletPackages
      return [count, packages.map((one: { name: string; version: string }) => `${one.name} ${one.version}`)]
    }
    for (const [name, version, enabled] of [
      ['@sorted/a', '1.2.0', true],
      ['@sorted/a', '1.10.0', false],
      ['@sorted/a', '1.10.0-rc.1', true],
      ['@sorted/b', '1.9.0', true],
    ] as const)
      await seedPilet(service.sql, project, { name, version, enabled })
    const sorted = 'filters: {field: "name", value: "@SORTED/"}'
    expect(await list(`, ${sorted}`)).toEqual([
      4,
      ['@sorted/a 1.2.0', '@sorted/a 1.10.0-rc.1', '@sorted/a 1.10.0', '@sorted/b 1.9.0'],
    ])
    expect(await list(`, ${sorted}, order: {field: "version", direction: DESC}`)).toEqual([
      4,
      ['@sorted/a 1.10.0', '@sorted/a 1.10.0-rc.1', '@sorted/b 1.9.0', '@sorted/a 1.2.0'],
    ])
    const page = 'order: [{field: "version"}], pagination: {limit: 1, offset: 1}'
    expect(await list(`, enabled: true, ${sorted}, ${page}`)).toEqual([3, ['@sorted/b 1.9.0']])
    const both = 'filters: [{field: "version", value: "1.10.0"}, {field: "enabled", value: "false"}]'
    expect(await list(`, ${both}`)).toEqual([1, ['@sorted/a 1.10.0']])
    expect(await list(`, enabled: true, ${both}`)).toEqual([0, []])
    expect(await list(', order: {field: "hash"}')).toBe(
      'unknown order field "hash"; allowed: id, name, version, description, size, enabled, createdAt, updatedAt',
    )
  })

  test('[pilets.graphql-read] more than fits into one response is refused, and pages are named as the way', async () => {
    await service.sql.query(
      `insert into pilet_packages (id, project_id, name, version, precedence, is_stable, description, content_type, size, hash, spec, enabled)
       select gen_random_uuid(), project_id, 'long', '1.0.' || n, n::text, true, repeat('ä', 1000), content_type, size, hash, spec, true
       from (select * from pilet_packages where project_id = $1 limit 1) one, generate_series(1, 8000) n`,
      [other.id],
    )
    const ask = (more: string) =>
      service.query(admin, `{ piletPackages(projectId: "${other.id}"${more}) { count packages { id } } }`)
    expect((await ask('')).error).toMatch(/request smaller pages/)
    expect((await ask(', pagination: {limit: 100, offset: 7900}')).data.piletPackages.packages).toHaveLength(
      100,
    )
    await service.sql.query("delete from pilet_packages where name = 'long'")
  })
})

describe('changing', () => {
  test('[pilets.graphql-update] changes description and enabled, and nothing else', async () => {
    const { body } = await uploadPilet(service, developer, {
      projectId: project.id,
      name: 'changed',
      version: '1.0.0',
    })
    const before = (await find(reader, 'changed')).data.piletPackage
    const call = `updatePiletPackage(${keyOf('changed')}, description: "new", enabled: false)`
    expect((await change(tester, call)).error).toMatch(/not permitted/)
    const { data } = await change(developer, call)
    expect(data.row).toEqual({ ...before, description: 'new', enabled: false, updatedAt: data.row.updatedAt })
    expect(await auditOf(body.id)).toMatchObject([
      { action: 'create' },
      {
        action: 'update',
        user_id: developer.id,
        changes: { description: { before: '', after: 'new' }, enabled: { before: true, after: false } },
      },
    ])
  })

  test('[pilets.graphql-update] what is absent or null stays, and what changes nothing leaves no trace', async () => {
    const { body } = await uploadPilet(service, developer, {
      projectId: project.id,
      name: 'unchanged',
      version: '1.0.0',
      query: '?description=kept',
    })
    const { data: before } = await find(reader, 'unchanged')
    for (const more of [
      '',
      ', description: null, enabled: null',
      ', description: "kept"',
      ', enabled: true',
    ]) {
      const { data } = await change(developer, `updatePiletPackage(${keyOf('unchanged')}${more})`)
      expect([more, data.row]).toEqual([more, before.piletPackage])
    }
    expect(await auditOf(body.id)).toHaveLength(1)
  })

  test('[pilets.graphql-update] refuses a text that is too long or cannot be stored, and unknown versions', async () => {
    await uploadPilet(service, developer, { projectId: project.id, name: 'texts', version: '1.0.0' })
    const update = async (name: string, description: string) =>
      (await change(developer, `updatePiletPackage(${keyOf(name)}, description: "${description}")`)).error
    expect(await update('texts', 'x'.repeat(1_001))).toBe('description must have at most 1000 characters')
    expect(await update('texts', '\\u0000')).toMatch(/description must not contain/)
    expect(await update('nothing', 'x')).toBe('package not found')
    expect(await update('texts', '')).toBeNull()
  })

  test('[pilets.graphql-toggle] testers disable, developers enable, and each is audited once', async () => {
    const { body } = await uploadPilet(service, developer, {
      projectId: project.id,
      name: 'toggled',
      version: '1.0.0',
    })
    const [disable, enable] = ['disable', 'enable'].map(
      (word) => `${word}PiletPackage(${keyOf('toggled')})`,
    ) as [string, string]
    expect((await change(reader, disable)).error).toMatch(/not permitted/)
    for (const who of [tester, tester]) expect((await change(who, disable)).data.row.enabled).toBe(false)
    expect((await change(tester, enable)).error).toMatch(/not permitted/)
    for (const who of [developer, developer]) expect((await change(who, enable)).data.row.enabled).toBe(true)
    expect((await auditOf(body.id)).map(({ action, user_id }) => [action, user_id])).toEqual([
      ['create', developer.id],
      ['update', tester.id],
      ['update', developer.id],
    ])
  })
})
