// These tests cover language packs through GraphQL. served-packs.test.ts covers the packs that frontends load.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { languagePackCalls, pair } from '../../../test/kit/language-packs.ts'
import { expectRefused, uuid } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'

const { service, admin, project, other } = useProject({ withOther: true })

const { create, update, remove, list, make, auditOf } = languagePackCalls(() => service)

const contentOf = async (projectId: string, id: string): Promise<KeyValuePair[]> => {
  const { data } = await list(admin, projectId, { filters: { field: 'id', value: id } })
  return data.packs[0].content as KeyValuePair[]
}

describe('lists of language packs', () => {
  test('[language-packs.query] show id, name and content of the packs of this project, and of no other', async () => {
    const lists = await seedProject(service.sql, 'lists')
    expect((await list(admin, lists.id)).data.packs).toEqual([])
    const [de, at] = [await make(admin, lists.id, 'de'), await make(admin, lists.id, 'de-AT')]
    await make(admin, other.id, 'de')
    await update(admin, at, [pair('greeting', 'Servus'), pair('menu.file', 'Datei')])
    const { data, error } = await list(admin, lists.id, { order: { field: 'name' } })
    expect(error).toBeNull()
    expect(data.packs).toEqual([
      { id: de, name: 'de', content: [] },
      { id: at, name: 'de-AT', content: [pair('greeting', 'Servus'), pair('menu.file', 'Datei')] },
    ])
    const first = await list(admin, lists.id, {
      order: { field: 'name' },
      pagination: { limit: 1, offset: 1 },
    })
    expect(first.data.packs).toMatchObject([{ id: at }])
    const named = await list(admin, lists.id, { filters: { field: 'name', value: 'AT' } }, 'id')
    expect(named.data.packs).toEqual([{ id: at }])
  })

  test('[language-packs.query] of an unknown project, or for whoever is no member, are not found', async () => {
    const outsider = await seedUser(service.sql, 'outsider-of-lists')
    for (const [id, caller] of [
      [randomUUID(), admin],
      ['nothing', admin],
      [project.id, outsider],
    ] as const) {
      const answer = await list(caller, id)
      expect(answer.error).toBe('project not found')
      expect(answer.data).toBeNull()
    }
  })
})

describe('making and removing language packs', () => {
  test('[language-packs.create-delete] a new pack is empty and keeps its name as it was written; removed, it is unknown', async () => {
    for (const name of ['fr', 'fr-CA', 'sr-Latn-RS', 'EN-us', `de${'-abcdefgh'.repeat(3)}-abcde`]) {
      const { data, error } = await create(admin, project.id, name)
      expect(error).toBeNull()
      expect(data.pack).toEqual({ id: uuid, name, content: [] })
      const { id } = data.pack as { id: string }
      expect((await list(admin, project.id)).data.packs).toContainEqual(data.pack)
      expect((await remove(admin, id)).data).toEqual({ deleteLanguagePack: true })
      expect((await list(admin, project.id)).data.packs).not.toContainEqual(data.pack)
      expect((await remove(admin, id)).error).toBe('language pack not found')
      expect((await update(admin, id, [])).error).toBe('language pack not found')
    }
  })

  test('[language-packs.create-delete] the same locale again, in any letter case, is a conflict; after removal it is free', async () => {
    const id = await make(admin, project.id, 'pt-BR')
    await update(admin, id, [pair('a', 'kept')])
    for (const name of ['pt-BR', 'PT-br', 'Pt-bR']) {
      const again = await create(admin, project.id, name)
      expectRefused(again, 'conflict')
      expect(again.error).toBe('the project already has a language pack for this locale')
    }
    expect(await contentOf(project.id, id)).toEqual([pair('a', 'kept')])
    // A language, its regions and the packs of other projects are independent.
    for (const [projectId, name] of [
      [project.id, 'pt'],
      [project.id, 'pt-PT'],
      [other.id, 'pt-br'],
    ] as const)
      expect((await create(admin, projectId, name)).error).toBeNull()
    await remove(admin, id)
    expect((await create(admin, project.id, 'PT-BR')).data.pack).toMatchObject({ name: 'PT-BR', content: [] })
  })

  test('[language-packs.create-delete] of several at once for one locale one is made', async () => {
    const answers = await Promise.all(['nl', 'NL', 'Nl', 'nL'].map((name) => create(admin, project.id, name)))
    expect(answers.filter(({ error }) => error === null)).toHaveLength(1)
    for (const answer of answers.filter(({ error }) => error !== null)) expectRefused(answer, 'conflict')
  })

  test('[language-packs.create-delete] a name that is no locale is refused in words', async () => {
    const before = (await list(admin, project.id)).data.packs as unknown[]
    const odd = [
      '',
      ' ',
      'd',
      'de_AT',
      'de-',
      '-de',
      'de--AT',
      'german language',
      'de ',
      'de\n',
      'dé',
      '12',
      '__proto__',
    ]
    for (const name of [
      ...odd,
      '../de',
      'de/AT',
      'de.AT',
      'abcdefghi',
      `de${'-abcdefgh'.repeat(3)}-abcdef`,
    ]) {
      const answer = await create(admin, project.id, name)
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe('name must be a locale such as de or de-AT')
    }
    expect((await list(admin, project.id)).data.packs).toEqual(before)
  })
})

describe('the content of a language pack', () => {
  test('[language-packs.update] is stored flat and in its order, and takes the place of all that was there', async () => {
    const id = await make(admin, project.id, 'it')
    const contents = [
      [pair('z', 'last'), pair('a.b.c', 'deep'), pair('a', 'text beside a branch'), pair('empty', '')],
      [
        pair('a.b.c', 'changed'),
        pair('constructor.x', 'a word like any other'),
        pair('prototype', 'too'),
        pair('0', 'zero'),
        pair('ü.日本.🙂', 'ä\n\t"\\'),
      ],
      [],
      [pair('A', 'upper'), pair('a', 'lower')],
    ]
    for (const content of contents) {
      const { data, error } = await update(admin, id, content)
      expect(error).toBeNull()
      expect(data.pack).toEqual({ id, name: 'it', content })
      expect(await contentOf(project.id, id)).toEqual(content)
    }
  })

  test('[language-packs.update] a refused content leaves the former one in place', async () => {
    const id = await make(admin, project.id, 'es')
    await update(admin, id, [pair('kept', 'yes')])
    const refusals: [KeyValuePair[], string | RegExp][] = [
      ...['.', '..', 'a.', '.a', 'a..b', 'a.b.', '.a.b'].map((key): [KeyValuePair[], string] => [
        [pair('good', 'x'), pair(key, 'x')],
        `Key "${key}" in content has an empty part; join the parts with single dots`,
      ]),
      [[pair('a', '1'), pair('b', '2'), pair('a', '1')], 'content has the Key "a" more than once'],
      [[pair('a.b', '1'), pair('a.b', '2')], 'content has the Key "a.b" more than once'],
      [[pair('__proto__', '1'), pair('__proto__', '2')], 'content has the Key "__proto__" more than once'],
      ...['__proto__', 'a.__proto__.b', 'constructor.prototype.polluted'].map(
        (key): [KeyValuePair[], string] => [
          [pair('good', 'x'), pair(key, 'x')],
          `Key "${key}" in content would change the prototype of objects in frontends that merge translations; rename it`,
        ],
      ),
      ...['', ' ', '\t', 'k'.repeat(501)].map((key): [KeyValuePair[], string] => [
        [pair(key, 'x')],
        'every Key of content must have 1 to 500 characters',
      ]),
      ...[pair('a\0', 'x'), pair('a', '\u0007'), pair('a', '\ud800'), pair('\udc00', 'x')].map(
        (one): [KeyValuePair[], string] => [
          [one],
          'content must not contain control characters or malformed Unicode',
        ],
      ),
    ]
    for (const [content, text] of refusals) {
      const answer = await update(admin, id, content)
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe(text)
    }
    expect(await contentOf(project.id, id)).toEqual([pair('kept', 'yes')])
    expect(await auditOf(id)).toHaveLength(2)
  })
})

describe('who may change language packs', () => {
  test('[language-packs.role] developers and above change packs, others who see them read only', async () => {
    const house = await seedProject(service.sql, 'house')
    const id = await make(admin, house.id, 'de')
    const memberAs = async (role: string, of: { tenantId?: string; applicationId?: string } = {}) => {
      const person = await seedUser(service.sql, `house-${role}-${Object.keys(of).join()}`)
      await seedMember(service.sql, person, role, { projectId: house.id, ...of })
      return person
    }
    for (const role of ['developer', 'maintainer', 'owner']) {
      const person = await memberAs(role)
      const made = await create(person, house.id, `en-${role.slice(0, 8)}`)
      expect(made.error).toBeNull()
      expect((await update(person, id, [pair('by', role)])).data.pack.content).toEqual([pair('by', role)])
      expect((await remove(person, made.data.pack.id as string)).data).toEqual({ deleteLanguagePack: true })
    }
    for (const role of ['readonly', 'tester']) {
      const person = await memberAs(role)
      for (const answer of [
        await create(person, house.id, 'fr'),
        await update(person, id, []),
        await remove(person, id),
      ])
        expectRefused(answer, 'forbidden')
      expect((await list(person, house.id)).data.packs).toEqual([
        { id, name: 'de', content: [pair('by', 'owner')] },
      ])
    }
    // Tenant and application members see the project but not its packs.
    for (const person of [
      await memberAs('owner', { tenantId: house.tenantId }),
      await memberAs('normal', { applicationId: house.applicationId }),
    ]) {
      expectRefused(await create(person, house.id, 'fr'), 'forbidden')
      expectRefused(await list(person, house.id), 'forbidden')
      for (const answer of [await update(person, id, []), await remove(person, id)])
        expect(answer.error).toBe('language pack not found')
    }
    expect((await list(admin, house.id)).data.packs).toEqual([
      { id, name: 'de', content: [pair('by', 'owner')] },
    ])
  })

  test('[language-packs.role] a pack of another project is not found, like one that does not exist', async () => {
    const [mine, theirs] = [await seedProject(service.sql, 'mine'), await seedProject(service.sql, 'theirs')]
    const id = await make(admin, theirs.id, 'de')
    await update(admin, id, [pair('a', 'theirs')])
    const owner = await seedUser(service.sql, 'owner-of-mine')
    await seedMember(service.sql, owner, 'owner', { projectId: mine.id })
    for (const unknown of [id, randomUUID(), 'nothing', '']) {
      for (const answer of [
        await update(owner, unknown, [pair('a', 'mine')]),
        await remove(owner, unknown),
      ]) {
        expectRefused(answer, 'not_found')
        expect(answer.error).toBe('language pack not found')
      }
    }
    for (const unknown of [theirs.id, randomUUID(), 'nothing']) {
      const answer = await create(owner, unknown, 'fr')
      expectRefused(answer, 'not_found')
      expect(answer.error).toBe('project not found')
    }
    expect((await list(admin, theirs.id)).data.packs).toEqual([
      { id, name: 'de', content: [pair('a', 'theirs')] },
    ])
    expect(await auditOf(id)).toHaveLength(2)
  })
})

describe('the audit rows of language packs', () => {
  test('tell who made, filled and removed a pack, and which texts changed from what to what', async () => {
    const id = await make(admin, project.id, 'sv')
    await update(admin, id, [pair('a', '1'), pair('b.c', '2'), pair('same', '3'), pair('constructor', '4')])
    const last = [pair('a', 'x'), pair('same', '3'), pair('d', '5'), pair('constructor', '4')]
    // Writing the same content is not a change and adds no audit row.
    for (let times = 0; times < 3; times++)
      expect((await update(admin, id, last)).data.pack.content).toEqual(last)
    await remove(admin, id)
    const row = { chain_id: project.id, entity_type: 'languagePack', user_id: admin.id }
    const change = (before: string | null, after: string | null) => ({ before, after })
    expect(await auditOf(id)).toEqual([
      {
        ...row,
        action: 'create',
        description: 'languagePack sv created',
        changes: { id: change(null, id), name: change(null, 'sv') },
      },
      {
        ...row,
        action: 'update',
        description: 'languagePack sv updated',
        changes: {
          'content.a': change(null, '1'),
          'content.b.c': change(null, '2'),
          'content.same': change(null, '3'),
          'content.constructor': change(null, '4'),
        },
      },
      {
        ...row,
        action: 'update',
        description: 'languagePack sv updated',
        changes: {
          'content.a': change('1', 'x'),
          'content.b.c': change('2', null),
          'content.d': change(null, '5'),
        },
      },
      {
        ...row,
        action: 'delete',
        description: 'languagePack sv deleted',
        changes: {
          id: change(id, null),
          name: change('sv', null),
          'content.a': change('x', null),
          'content.constructor': change('4', null),
          'content.d': change('5', null),
          'content.same': change('3', null),
        },
      },
    ])
  })
})
