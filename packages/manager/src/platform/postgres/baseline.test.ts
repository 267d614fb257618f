// Tests databases without recorded migrations: the matching migration is recognized, or the differences are listed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  baseline,
  withClient,
  runStatements,
  runMigration,
  schemaStateOf,
} from '../../../test/kit/baselines.ts'
import {
  type TestDatabase,
  copyDatabase,
  createEmptyDatabase,
  createScratchDatabase,
} from '../../../test/kit/databases.ts'
import { schemaHistory } from '../../generated/schema-history.ts'
import { listKnownMigrations, migrateUp } from './migrate.ts'
import { tablesWithRows } from './schema-description.ts'

const migrations = listKnownMigrations()
const last = migrations.at(-1) as string

let fresh: TestDatabase
/** The newest schema, without recorded migrations. */
let unrecorded: TestDatabase
beforeAll(async () => {
  fresh = await createScratchDatabase()
  unrecorded = await createScratchDatabase()
  await runStatements(unrecorded, 'drop table pgmigrations')
})
afterAll(async () => {
  await fresh.drop()
  await unrecorded.drop()
})

describe('a database without a record of migrations', () => {
  test('[versioning.baseline] every state that migrations leave behind is recognised', async () => {
    const growing = await createEmptyDatabase()
    for (const [at, name] of migrations.entries()) {
      await runMigration(growing, name)
      const recorded = migrations.slice(0, at + 1)
      expect(await baseline(growing, undefined, true)).toEqual({
        last: name,
        recorded,
        error: null,
        lines: [],
      })
    }
    await growing.drop()
  })

  // baseline.nightly.test.ts covers every migration.
  test('[versioning.baseline] it migrates on to the newest schema', async () => {
    const own = await createEmptyDatabase()
    const before = migrations.filter((name) => name < '0016')
    for (const name of before) await runMigration(own, name)
    expect(await baseline(own)).toMatchObject({ recorded: before, error: null })
    expect(await migrateUp(own.url, () => undefined)).toEqual(migrations.slice(before.length))
    expect(await schemaStateOf(own)).toEqual(await schemaStateOf(fresh))
    await own.drop()
  })

  test('the named migration is recorded only when the schema is that one, and a dry run records nothing', async () => {
    const own = await copyDatabase(unrecorded)
    const before = await schemaStateOf(own)
    const former = migrations.at(-2) as string
    const other = await baseline(own, former)
    expect(other.error).toBe(
      `the schema matches ${last}, not ${former}; nothing was recorded: run \`migrate baseline ${last}\``,
    )
    // The last migration adds or replaces objects.
    const changed = Object.keys(schemaHistory[last]?.set ?? {})
    const named = /^(?:unexpected|differs): ((?:[^:]|:(?! ))+)/.exec(other.lines[0] ?? '')?.[1]
    expect(changed).toContain(named)
    expect(await baseline(own, '0000_nothing')).toMatchObject({
      error: expect.stringContaining('0000_nothing is not a migration; known: 0001_core'),
    })
    expect(await baseline(own, last, true)).toMatchObject({ last, recorded: migrations, error: null })
    expect(await schemaStateOf(own)).toEqual(before)
    expect(await baseline(own, last)).toMatchObject({ recorded: migrations, error: null })
    expect((await baseline(own)).error).toBe(
      `this database already records its migrations (last: ${last}); run \`migrate up\` instead`,
    )
    await own.drop()
  })

  test('what is there besides is named and left alone', async () => {
    const own = await copyDatabase(unrecorded)
    await runStatements(
      own,
      `create table notes (id integer primary key); create view plain as select 1 as one;
       create function answer() returns integer language sql as 'select 42';
       create index operators_own on projects (updated_at); drop index audit_logs_created_at_idx;
       create schema elsewhere; create table elsewhere.projects (x integer);
       alter table projects set (autovacuum_vacuum_scale_factor = 0.01);`,
    )
    const { error, lines } = await baseline(own)
    expect([error, lines.toSorted()]).toEqual([
      null,
      [
        'ignored: function answer()',
        'ignored: index projects.operators_own',
        'ignored: table notes',
        'ignored: view plain',
      ],
    ])
    await own.drop()
  })
})

/** A change to the database, and the lines that the command must print. */
const changes: [statement: string, ...lines: string[]][] = [
  [
    'alter table tenants drop column deployment_mode',
    'missing: column tenants.deployment_mode',
    'missing: constraint tenants.tenants_deployment_mode_known',
  ],
  ['drop table legacy_imports', 'missing: table legacy_imports'],
  ['drop index projects_created_at_idx', 'missing: index projects.projects_created_at_idx'],
  [
    'drop trigger audit_checkpoints_append_only on audit_checkpoints',
    'missing: trigger audit_checkpoints.audit_checkpoints_append_only',
  ],
  [
    'drop function partitions_drop_expired',
    'missing: function partitions_drop_expired(parent_table text, retention_days integer)',
  ],
  ['alter table users drop constraint users_role_known', 'missing: constraint users.users_role_known'],
  ['delete from heartbeat_reception', 'missing: row heartbeat_reception'],
  ['delete from schema_compatibility', 'missing: row schema_compatibility'],
  [
    `delete from monthly_partitions where parent = 'auth_failures'`,
    'missing: row monthly_partitions.auth_failures',
  ],
  [`delete from jobs.queue where name = 'trigger-retries'`, 'missing: row jobs.queue.trigger-retries'],
  ['alter table projects add column colour text', 'unexpected: column projects.colour'],
  ['create unique index one_name on projects (name)', 'unexpected: index projects.one_name'],
  [
    'alter table projects add constraint short check (length(name) < 9)',
    'unexpected: constraint projects.short',
  ],
  [
    'create trigger more before delete on projects for each row execute function audit_refuse_change()',
    'unexpected: trigger projects.more',
  ],
  [
    'alter table environments alter column display_name type varchar(100)',
    'differs: column environments.display_name: expected text not null, found character varying(100) not null',
  ],
  [
    'alter table projects alter column name drop not null',
    'differs: column projects.name: expected text not null, found text',
  ],
  [
    `alter table users alter column role set default 'admin'`,
    `differs: column users.role: expected text not null default 'user'::text, found text not null default 'admin'::text`,
  ],
  [
    'alter table legacy_rows set unlogged',
    'differs: table legacy_rows: expected table, found unlogged table',
  ],
  [
    'alter table audit_logs disable trigger audit_logs_append_only',
    'differs: trigger audit_logs.audit_logs_append_only: expected CREATE TRIGGER … found (disabled) CREATE TRIGGER …',
  ],
  [
    `create or replace function audit_refuse_change() returns trigger language plpgsql as 'begin return null; end'`,
    'differs: function audit_refuse_change(): expected returns trigger …, source … found returns trigger …, source …',
  ],
  [
    'drop index projects_name_idx; create index projects_name_idx on projects (name)',
    'differs: index projects.projects_name_idx: expected CREATE INDEX … (name, id), found CREATE INDEX … (name)',
  ],
  [
    `alter table applications drop constraint applications_slug_form;
     alter table applications add constraint applications_slug_form check (slug <> '')`,
    `differs: constraint applications.applications_slug_form: expected CHECK ((slug ~ … found CHECK ((slug <> ''::text))`,
  ],
]
/** Removes parts of the output that vary or are long. */
const abbreviated = (line: string): string =>
  line
    .replace(/(CREATE TRIGGER) .+(found .*CREATE TRIGGER) .*$/, '$1 … $2 …')
    .replaceAll(/(returns trigger) .*?(, source) [0-9a-f]{16},?/g, '$1 …$2 …')
    .replaceAll(/(CREATE INDEX) .*? (\([a-z, ]+\))/g, '$1 … $2')
    .replace(/(slug ~) .*(found)/, '$1 … $2')

describe('a schema that differs', () => {
  test('is refused, every difference is named, and nothing changes', async () => {
    const own = await copyDatabase(unrecorded)
    for (const [statement] of changes) await runStatements(own, statement)
    const before = await schemaStateOf(own)
    const { error, lines } = await baseline(own)
    expect(error).toBe(
      `the schema matches no migration; the lines above list the differences from the nearest, ${last}; nothing was recorded: correct the differences and run the command again`,
    )
    expect(lines.map(abbreviated).toSorted()).toEqual(changes.flatMap(([, ...told]) => told).toSorted())
    expect(await schemaStateOf(own)).toEqual(before)
    await own.drop()
  })

  test('one difference is enough', async () => {
    const own = await copyDatabase(unrecorded)
    for (const statement of [
      'delete from activity_recording',
      'alter table tenants alter name drop not null',
    ]) {
      await runStatements(own, statement)
      expect(await baseline(own)).toMatchObject({ recorded: null })
    }
    await own.drop()
  })

  test('an empty database is told to migrate, and an older layout to be imported', async () => {
    const own = await createEmptyDatabase()
    const empty = 'the database is empty; run `migrate up` instead of a baseline'
    expect((await baseline(own)).error).toBe(empty)
    await runStatements(own, 'create table notes (id integer)')
    expect((await baseline(own, last)).error).toBe(empty)
    const older = /has the layout from before environments.*import this one with `legacy import`$/
    await runStatements(own, 'create table tenants (id text, type text)')
    expect((await baseline(own)).error).toMatch(older)
    await runStatements(own, 'drop table tenants; create schema legacy')
    expect((await baseline(own)).error).toMatch(older)
    await own.drop()
  })

  test('many differences are cut short', async () => {
    const own = await createEmptyDatabase()
    await runStatements(own, 'create table projects (id uuid)')
    const { error, lines } = await baseline(own, last)
    expect(error).toMatch(new RegExp(`differences from ${last}; nothing was recorded`))
    expect(lines).toHaveLength(41)
    expect(lines.at(-1)).toMatch(/^… and \d+ more$/)
    await own.drop()
  })

  test('tables of another role are refused: nobody could migrate them further', async () => {
    const own = await copyDatabase(unrecorded)
    const role = `${own.name}_other`
    const migrator = `${own.name}_migrator`
    const name = new URL(own.url)
    await runStatements(
      own,
      `create role ${role}; create role ${migrator} login; grant create, usage on schema public, jobs to ${migrator}`,
    )
    await runStatements(
      own,
      `grant select on all tables in schema public, jobs to ${migrator}; alter table tenants owner to ${role}`,
    )
    name.username = migrator
    expect((await baseline({ ...own, url: name.href })).error).toMatch(
      /^the table \w+ belongs to the role .* nothing was recorded/,
    )
    await own.drop()
    await runStatements(fresh, `drop role ${role}; drop role ${migrator}`)
  })
})

describe('the history of the schema', () => {
  test('it has every migration, and every row that migrations insert', async () => {
    expect(Object.keys(schemaHistory)).toEqual(migrations)
    const empty = await createEmptyDatabase()
    await migrateUp(empty.url, () => undefined)
    const filled = await withClient(empty, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select case schemaname when 'public' then '' else schemaname || '.' end || tablename as name from pg_tables
         where schemaname in ('public', 'jobs') and tablename <> 'pgmigrations'`,
      )
      const filled: string[] = []
      for (const { name } of rows)
        if ((await client.query(`select from ${name} limit 1`)).rowCount === 1) filled.push(name)
      return filled
    })
    expect(filled.toSorted()).toEqual(tablesWithRows.toSorted())
    await empty.drop()
  })
})
