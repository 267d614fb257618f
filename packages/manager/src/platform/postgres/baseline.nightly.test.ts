// Tests databases without recorded migrations, in the state after each migration.
import { expect, test } from 'vitest'
import { baseline, runMigration, schemaStateOf } from '../../../test/kit/baselines.ts'
import { copyDatabase, createEmptyDatabase, createScratchDatabase } from '../../../test/kit/databases.ts'
import { listKnownMigrations, migrateUp } from './migrate.ts'

test('[versioning.baseline] from every migration a recognised database migrates on to the schema of a fresh install', async () => {
  const migrations = listKnownMigrations()
  const [growing, fresh] = [await createEmptyDatabase(), await createScratchDatabase()]
  const newest = await schemaStateOf(fresh)
  for (const [at, name] of migrations.entries()) {
    await runMigration(growing, name)
    const old = await copyDatabase(growing)
    expect(await baseline(old)).toMatchObject({
      last: name,
      recorded: migrations.slice(0, at + 1),
      error: null,
    })
    expect(await migrateUp(old.url, () => undefined)).toEqual(migrations.slice(at + 1))
    expect(await schemaStateOf(old)).toEqual(newest)
    await old.drop()
  }
  await growing.drop()
  await fresh.drop()
})
