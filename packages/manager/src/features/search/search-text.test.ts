// Tests which texts the trigram indexes can find.
import { expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { hasTrigram } from './search-text.pure.ts'

const { service } = useProject()

test('a text has a trigram if three letters are in a row, or a word starts or ends within it', () => {
  const withTrigram = ['abc', 'de-AT', 'a.b', 'ab-', ' b', '日本語', '100%', '𝒜𝒜𝒜']
  expect(withTrigram.filter((text) => !hasTrigram(text))).toEqual([])
  expect(['---', '%_\\', 'a--', '_ab'.slice(1), '𝒜𝒜', '\u202E'].filter(hasTrigram)).toEqual([])
})

test('a text has a trigram exactly if PostgreSQL finds one', async () => {
  const client = await service.sql.connect()
  await client.query(`
    create temp table words as select 'other' as word;
    create index on words using gin (word gin_trgm_ops);
    set enable_seqscan = off`)
  for (const text of ['abc', 'de-AT', 'a.b', 'ab-', 'a--', '---', 'ab', ' b', '-a', '100%', '日本語']) {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain analyze select from words where word ilike '%${text.replace('%', '\\%')}%'`,
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    // Without a trigram, the index returns every row.
    const returned = /Bitmap Index Scan on words_word_idx .* rows=(\d+) loops=1/.exec(plan)?.[1]
    expect([text, returned]).toEqual([text, hasTrigram(text) ? '0' : '1'])
  }
  client.release(true)
})
