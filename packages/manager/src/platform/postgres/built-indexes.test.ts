// Tests indexes that are built after the migrations: they are built once, and rebuilt after an interrupted attempt.
import { expect, test } from 'vitest'
import { Client } from 'pg'
import { createScratchDatabase } from '../../../test/kit/databases.ts'
import { migrateUp } from './migrate.ts'

const index = 'audit_logs_created_at_idx'

test('an index is there after the migrations, is not built twice, and an unfinished one is built anew', async () => {
  const database = await createScratchDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const state = async () =>
    (
      await client.query<{ oid: string; valid: boolean }>(
        'select indexrelid::text as oid, indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
        [index],
      )
    ).rows[0]
  try {
    const first = await state()
    expect(first?.valid).toBe(true)
    await migrateUp(database.url, () => undefined)
    expect(await state()).toEqual(first)
    await client.query('update pg_index set indisvalid = false where indexrelid = to_regclass($1)', [index])
    await migrateUp(database.url, () => undefined)
    expect(await state()).toMatchObject({ valid: true })
    expect((await state())?.oid).not.toBe(first?.oid)
    await client.query(`drop index ${index}`)
    await migrateUp(database.url, () => undefined)
    expect(await state()).toMatchObject({ valid: true })
  } finally {
    await client.end()
    await database.drop()
  }
})
