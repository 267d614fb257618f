// These tests cover the size limits of one language pack and of all packs in one response.
import { describe, expect, test } from 'vitest'
import { languagePackCalls, pair } from '../../../test/kit/language-packs.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'

const mebibyte = 1_048_576

const { service, admin, project } = useProject()

const { create, update, list, make, remove, auditOf } = languagePackCalls(() => service)

const contentOf = async (id: string): Promise<KeyValuePair[]> => {
  const { data } = await list(admin, project.id, { filters: { field: 'id', value: id } })
  return data.packs[0].content as KeyValuePair[]
}

describe('one language pack', () => {
  test('[language-packs.update] 500 characters of a key and 10,000 keys pass, one more of either does not', async () => {
    const id = await make(admin, project.id, 'pl')
    const longest = Array.from({ length: 20 }, () => 'x'.repeat(24))
      .join('.')
      .padEnd(500, 'x')
    const content = Array.from({ length: 10_000 }, (_, index) =>
      pair(`area${index % 7}.key${index}`, `${index}`),
    )
    content[0] = pair(longest, 'text')
    expect(content[0].Key).toHaveLength(500)
    expect((await update(admin, id, content)).error).toBeNull()
    expect(await contentOf(id)).toEqual(content)
    const tooMany = await update(admin, id, [...content, pair('one-more', 'x')])
    expectRefused(tooMany, 'bad_request')
    expect(tooMany.error).toBe('content must have at most 10000 entries')
    const tooLong = await update(admin, id, [pair(`${longest}x`, 'x')])
    expectRefused(tooLong, 'bad_request')
    expect(tooLong.error).toBe('every Key of content must have 1 to 500 characters')
    expect(await contentOf(id)).toEqual(content)
  })

  test('[language-packs.update] 2 MiB of bytes pass, one more byte does not, however few characters they are', async () => {
    const id = await make(admin, project.id, 'cs')
    const maxBytes = 2 * mebibyte
    // Each ü has two bytes. The keys have three bytes in total, and the x makes the total even.
    const last = `${'ü'.repeat(maxBytes / 4 - 2)}x`
    const full = [pair('a', 'ü'.repeat(maxBytes / 4)), pair('bb', last)]
    const bytes = full.reduce((sum, { Key, Value }) => sum + Buffer.byteLength(Key + Value), 0)
    expect(bytes).toBe(maxBytes)
    expect((await update(admin, id, full)).data.pack.content).toEqual(full)
    for (const more of [pair('bbb', last), pair('bb', `${last}x`)]) {
      const answer = await update(admin, id, [full[0] as KeyValuePair, more])
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe(`content must contain at most ${maxBytes} bytes of keys and values`)
    }
    expect(await contentOf(id)).toEqual(full)
  })

  test('[language-packs.update] 20 parts of a key and 100,000 parts in all pass, one more of either does not', async () => {
    const id = await make(admin, project.id, 'sk')
    const full = Array.from({ length: 5_000 }, (_, index) => pair(`k${index}${'.a'.repeat(19)}`, 'v'))
    expect((await update(admin, id, full, 'id')).error).toBeNull()
    for (const [content, text] of [
      [[pair(`k${'.a'.repeat(20)}`, 'v')], 'every Key of content must have at most 20 parts'],
      [[...full, pair('one', 'v')], 'the keys of content must have at most 100000 parts in total'],
    ] as const) {
      const answer = await update(admin, id, content)
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe(text)
    }
    expect(await contentOf(id)).toEqual(full)
  })

  test('its audit rows stay small, and still tell that something changed beyond what they show', async () => {
    const long = 'ä'.repeat(500_000)
    const texts = (last: string) => [
      ...Array.from({ length: 9_999 }, (_, index) => pair(`key${String(index).padStart(4, '0')}`, 'x')),
      pair('zzz', last),
    ]
    const id = await make(admin, project.id, 'hu', texts('before'))
    await update(admin, id, texts(long))
    await remove(admin, id)
    const [, filled, changed, removed] = await auditOf(id)
    const digest: unknown = expect.stringMatching(/^sha256 [0-9a-f]{64}$/)
    expect(filled?.changes).toMatchObject({
      'content.key0000': { before: null, after: 'x' },
      'content.key0099': { before: null, after: 'x' },
      'content (9900 more)': { before: digest, after: digest },
    })
    expect(Object.keys(filled?.changes ?? {})).toHaveLength(101)
    expect(changed?.changes).toEqual({
      'content.zzz': {
        before: 'before',
        after: expect.stringMatching(/^ä{200}… \(sha256 [0-9a-f]{64}\)$/),
      },
    })
    for (const row of [filled, changed, removed]) expect(JSON.stringify(row).length).toBeLessThan(20_000)
  })
})

describe('the packs of one project', () => {
  test('[language-packs.create-delete] are at most 1,000; after removing one, one more is made', async () => {
    const { id: projectId } = await seedProject(service.sql, 'crowded')
    await service.sql.query(
      `insert into language_packs (id, project_id, name)
       select gen_random_uuid(), $1, 'en-x' || i from generate_series(1, 999) i`,
      [projectId],
    )
    const last = await make(admin, projectId, 'de')
    const refused = await create(admin, projectId, 'fr')
    expectRefused(refused, 'bad_request')
    expect(refused.error).toBe('a project can have at most 1000 language packs; delete one first')
    expect((await create(admin, project.id, 'fr')).error).toBeNull()
    await remove(admin, last)
    expect((await create(admin, projectId, 'fr')).error).toBeNull()
  })
})

describe('the packs of one answer', () => {
  /** Returns content whose JSON has exactly the given size: one key, and a value that fills the remaining bytes. */
  const contentOfBytes = (bytes: number): KeyValuePair[] => [
    pair('k', 'x'.repeat(bytes - JSON.stringify([pair('k', '')]).length)),
  ]

  test('[language-packs.query] have 16 MiB of content together; of more, smaller pages and lists without content are answered', async () => {
    const { id: projectId } = await seedProject(service.sql, 'large')
    const ids: string[] = []
    for (const name of ['aa', 'bb', 'cc', 'dd', 'ee', 'ff', 'gg', 'hh'])
      ids.push(await make(admin, projectId, name, contentOfBytes(2 * mebibyte)))
    const all = await list(admin, projectId, { order: { field: 'name' } })
    expect(all.error).toBeNull()
    const packs = all.data.packs as { id: string; content: KeyValuePair[] }[]
    expect(packs.map(({ id }) => id)).toEqual(ids)
    for (const { content } of packs) expect(content).toEqual(contentOfBytes(2 * mebibyte))

    await update(admin, ids[7] as string, contentOfBytes(2 * mebibyte + 1), 'id')
    for (const pagination of [undefined, { limit: 10, offset: 0 }, { limit: 100, offset: 0 }]) {
      const refused = await list(admin, projectId, { pagination })
      expectRefused(refused, 'bad_request')
      expect(refused.error).toBe(
        `the contents of this response would exceed ${16 * mebibyte} bytes; request smaller pages or fewer fields`,
      )
    }
    // The test reads the first page and the page with the largest pack.
    for (const index of [0, 7]) {
      const page = await list(admin, projectId, {
        order: { field: 'name' },
        pagination: { limit: 1, offset: index },
      })
      expect(page.data.packs).toMatchObject([{ id: ids[index], content: [{ Key: 'k' }] }])
    }
    const rest = await list(admin, projectId, { pagination: { limit: 10, offset: 1 } }, 'id content { Key }')
    expect(rest.data.packs).toHaveLength(7)
    const names = await list(admin, projectId, {}, 'id name')
    expect(names.data.packs).toHaveLength(8)
    // Lists in a different project are unaffected.
    expect((await list(admin, project.id)).error).toBeNull()
    expect((await update(admin, ids[0] as string, [])).data.pack.content).toEqual([])
    expect((await list(admin, projectId)).error).toBeNull()
  })

  test('[language-packs.query] are counted as often as they are asked for, and no name repeats them', async () => {
    const { id: projectId } = await seedProject(service.sql, 'repeated')
    for (const name of ['aa', 'bb', 'cc']) await make(admin, projectId, name, contentOfBytes(2 * mebibyte))
    const ask = (text: string) => service.query(admin, `query($p: ID!) { ${text} }`, { p: projectId })
    const packs = 'languagePacks(project: $p) { content { Key } }'
    expect((await ask(`a: ${packs} b: ${packs}`)).error).toBeNull()
    expect((await ask(`a: ${packs} b: ${packs} c: ${packs}`)).error).toMatch(/^the contents of this response/)
    for (const [repeated, field] of [
      ['a: content { Key } b: content { Key }', 'LanguagePack.content'],
      ['content { Key a: Key }', 'KeyValuePair.Key'],
      ['... on LanguagePack { a: content { Value } } content { Key }', 'LanguagePack.content'],
    ] as const)
      expect((await ask(`languagePacks(project: $p) { ${repeated} }`)).error).toBe(
        `request ${field} only once: its contents can be large`,
      )
    // Selections with the same name are merged into one field.
    expect((await ask('languagePacks(project: $p) { content { Key } content { Value } }')).error).toBeNull()
  })
})
