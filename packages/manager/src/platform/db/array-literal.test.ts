import { array, assert, asyncProperty, option, string } from 'fast-check'
import { Pool } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { adminUrl } from '../../../test/kit/engines.ts'
import { plainArray, textArray } from './array-literal.ts'

const sql = new Pool({ connectionString: adminUrl(), max: 1 })
afterAll(() => sql.end())

test('texts of any content come back from PostgreSQL as they were, and null as null', async () => {
  const texts = array(
    option(string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0'))),
  )
  await assert(
    asyncProperty(texts, async (values) => {
      const { rows } = await sql.query<{ back: unknown }>('select $1::text[] as back', [textArray(values)])
      expect(rows[0]?.back).toEqual(values)
    }),
    {
      numRuns: 100,
      examples: [[['']], [['NULL', 'null', null]], [['a,b', '{', '}', '"', '\\', String.raw`\"`, ' x ']]],
    },
  )
})

test('numbers, booleans, ids and nulls come back too', async () => {
  const id = '01a1deb9-2517-7707-95ef-6e9e715c9b37'
  const { rows } = await sql.query('select $1::int[] as a, $2::boolean[] as b, $3::uuid[] as c', [
    plainArray([200, null, -1]),
    plainArray([true, false, null]),
    plainArray([id]),
  ])
  expect(rows[0]).toEqual({ a: [200, null, -1], b: [true, false, null], c: [id] })
})
