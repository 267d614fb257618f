// Tests the order and the limits of the hits, and the arguments of a search.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { seedMember, seedProject, seedTenant } from '@manager/harness/seed.ts'
import { type Hit, kindsOf, textKinds, useSearch } from '../../../test/kit/search.ts'

const { service, admin, project, other, person, own, reader, tenantMember, search, find } = useSearch()

describe('the hits', () => {
  test('are ordered by whole values, beginnings and other parts, and then by title', async () => {
    const { id, tenantId } = await seedProject(service.sql, 'ordered')
    await service.sql.query('delete from tenants where id = $1', [tenantId])
    for (const [slug, name] of [
      ['a', 'Mulga'],
      ['mulga', 'zzz'],
      ['b', 'the mulga B'],
      ['c', 'The Mulga A'],
      ['d', 'mulga snake'],
      ['mulga-2', 'Anything'],
    ] as const) {
      const tenant = randomUUID()
      await seedTenant(service.sql, id, tenant, slug)
      await service.sql.query('update tenants set name = $2 where id = $1', [tenant, name])
    }
    const titles = (hits: readonly Hit[]): string[] => hits.map(({ title }) => title)
    const expected = ['Mulga', 'zzz', 'Anything', 'mulga snake', 'The Mulga A', 'the mulga B']
    expect(titles(await find(admin, 'mulga'))).toEqual(expected)
    const { data } = await search(admin, 'mulga', { limit: 4 })
    expect(titles(data.found.hits as Hit[])).toEqual(expected.slice(0, 4))
    expect(data.found.isComplete).toBe(false)
    expect((await search(admin, 'mulga', { limit: 6 })).data.found.isComplete).toBe(true)
  })

  test('contain whole values and beginnings also if too many objects match; others do not notice', async () => {
    const { id } = await seedProject(service.sql, 'crowd')
    await service.sql.query(
      `insert into tenants (id, project_id, name, slug)
       select gen_random_uuid(), $1::uuid, 'the dingo ' || n, 't' || n from generate_series(1, 600) n
       union all select gen_random_uuid(), $1::uuid, 'dingo', 'zz1' union all select gen_random_uuid(), $1::uuid, 'Dingoes', 'zz2'`,
      [id],
    )
    const { data } = await search(admin, 'dingo', { limit: 5 })
    expect(data.found.isComplete).toBe(false)
    expect((data.found.hits as Hit[]).slice(0, 2).map(({ title }) => title)).toEqual(['dingo', 'Dingoes'])
    expect(data.found.hits).toHaveLength(5)
    expect(await find(admin, 'the dingo 599')).toHaveLength(1)
    // `find` expects complete results.
    expect(await find(reader, 'dingo')).toEqual([])
    expect(await find(admin, 'dingo', { kinds: ['application', 'user'] })).toEqual([])
  })

  test('are of the given kinds and project only', async () => {
    expect(kindsOf(await find(reader, 'quokka', { kinds: ['trigger', 'tenant', 'trigger'] }))).toEqual([
      'tenant',
      'trigger',
    ])
    expect(kindsOf(await find(reader, 'quokka', { kinds: [] }))).toHaveLength(textKinds.length + 1)
    expect(await find(admin, own['tenant'] as string, { kinds: ['user', 'loggedCall'] })).toEqual([])
    expect(kindsOf(await find(reader, 'quokka', { projectId: project.id }))).toContain('user')
    // A tenant member is not a member of the project, so the search for users of the project does not find them.
    expect(await find(tenantMember, 'tenant-only', { projectId: project.id })).toEqual([])
    for (const projectId of [other.id, randomUUID(), 'nothing'])
      for (const caller of [reader, tenantMember])
        expect((await search(caller, 'quokka', { projectId })).error).toBe('project not found')
    expect((await search(admin, 'quokka', { projectId: randomUUID() })).error).toBe('project not found')
  })

  test('change with the memberships of the caller', async () => {
    const leaver = await person('leaver')
    const id = await seedMember(service.sql, leaver, 'owner', { projectId: project.id })
    expect(await find(leaver, 'quokka tenant')).toHaveLength(1)
    await service.sql.query('delete from user2projects where id = $1', [id])
    expect(await find(leaver, 'quokka tenant')).toEqual([])
  })
})

describe('arguments', () => {
  test('that are wrong are refused with the rule and the remedy', async () => {
    for (const [text, args, error] of [
      ['', {}, 'text must have at least 3 characters'],
      ['   ', { kinds: ['loggedCall'] }, 'text must have at least 3 characters'],
      ['ab', {}, 'pass a longer text or a complete id'],
      ['  ab  ', {}, 'text must have at least 3 characters'],
      ['日本', {}, 'text must have at least 3 characters'],
      ['---', {}, 'text must contain three consecutive letters or digits'],
      ['x'.repeat(201), {}, 'text must have at most 200 characters'],
      ['abc\u0000', {}, 'text must not contain control characters'],
      ['abc\uD800', {}, 'text must not contain control characters or malformed Unicode'],
      ['abc', { kinds: ['tenants'] }, 'unknown kind "tenants"; allowed: project, tenant, application'],
      ['abc', { kinds: ['__proto__'] }, 'unknown kind "__proto__"; allowed: project'],
      ['abc', { kinds: Array.from({ length: 13 }, () => 'tenant') }, 'kinds must have at most 12 entries'],
      ['abc', { limit: 0 }, 'limit must be from 1 to 50'],
      ['abc', { limit: 51 }, 'limit must be from 1 to 50'],
    ] as const) {
      const answer = await search(admin, text, args)
      expect([text, answer.error]).toEqual([text, expect.stringContaining(error)])
      expect(answer.errors[0]?.extensions?.code).toBe('bad_request')
    }
    expect((await search(admin, 'é'.repeat(200))).error).toBeNull()
    expect((await search(admin, 'ab', { kinds: ['environment', 'loggedCall'] })).error).toBeNull()
  })
})
