// Creates an old installation in a separate database: the tables of an old release, and the views that the
// import reads.
import { Client } from 'pg'
import { type TestDatabase, createEmptyDatabase } from '../../manager/test/kit/databases.ts'
import type { OldInstall } from './old-rows.ts'

const tables = (id: OldInstall['idType']): string => `
  create schema old;
  create table old.project (nr ${id}, title text, handle text, made timestamptz);
  create table old.tenant (
    nr ${id}, project_nr ${id}, title text, handle text, kind text, mode text, made timestamptz);
  create table old.app (
    nr ${id}, tenant_nr ${id}, project_nr ${id}, copied_from ${id}, handle text, title text, notes text,
    is_off boolean, made timestamptz);
  create table old.tenant_person (
    tenant_nr ${id}, person text, rights text, person_name text, person_mail text, made timestamptz);
  create table old.robot (
    nr ${id}, tenant_nr ${id}, title text, login text, is_off boolean, token_start text, token_sha256 bytea,
    password text, made timestamptz);
  create table old.callback (
    nr ${id}, app_nr ${id}, robot_nr ${id}, address text, secret text, release text, made timestamptz);
  create table old.config (nr ${id}, owner text, owner_nr ${id}, backend jsonb, frontend jsonb);
  create table old.route (
    nr ${id}, app_nr ${id}, title text, notes text, is_off boolean, path text, target text, auth text,
    auth_login text, auth_password text, auth_token text, takes text, gives text, template text, logging text,
    made timestamptz);
  create table old.route_robot (route_nr ${id}, robot_nr ${id});
  create table old.bundle (
    nr ${id}, project_nr ${id}, package text, release text, notes text, media_type text, bytes bytea,
    sha256 text, is_off boolean, made timestamptz);
  create table old.person_token (
    nr ${id}, person text, person_name text, person_mail text, title text, start text, pbkdf2 text,
    ends timestamptz, is_revoked boolean, made timestamptz);`

/** Views as an operator would write them. They map the old layout to the names that the import expects. */
const exampleViews = `
  create schema legacy;
  create view legacy.projects as
    select nr as id, title as name, handle as slug, made as created_at from old.project;
  create view legacy.tenants as
    select nr as id, project_nr as project_id, title as name, handle as slug, kind as type,
      mode as deployment_mode, made as created_at
    from old.tenant;
  create view legacy.applications as
    select nr as id, tenant_nr as tenant_id, project_nr as project_id, copied_from as clone_of, handle as slug,
      title as name, notes as description, not is_off as enabled, made as created_at
    from old.app;
  create view legacy.tenant_members as
    select tenant_nr as tenant_id, person as user_id, rights as role, person_name as name, person_mail as email,
      made as created_at
    from old.tenant_person;
  create view legacy.machine_users as
    select nr as id, tenant_nr as tenant_id, title as name, login as username, not is_off as enabled,
      token_start as token_prefix, token_sha256 as token_hash, password as password_hash, made as created_at
    from old.robot;
  create view legacy.backends as
    select nr as id, app_nr as application_id, robot_nr as machine_user_id, address as callback_url,
      secret as callback_token, release as version, made as created_at
    from old.callback;
  create view legacy.settings as
    select nr as id, case owner when 'project' then owner_nr end as project_id,
      case owner when 'tenant' then owner_nr end as tenant_id,
      case owner when 'application' then owner_nr end as application_id,
      backend as backend_module_config, frontend as frontend_module_config
    from old.config;
  create view legacy.endpoints as
    select nr as id, app_nr as application_id, title as name, notes as description, not is_off as enabled,
      path as consume_url, target as url, auth as auth_type, auth_login as auth_username, auth_password, auth_token,
      takes as input_message_type, gives as output_message_type, template as transformation_template,
      logging as log_level, array(select robot_nr::text from old.route_robot where route_nr = nr) as callers,
      made as created_at
    from old.route;
  create view legacy.pilets as
    select nr as id, project_nr as project_id, package as name, release as version, notes as description,
      media_type as content_type, bytes as content, sha256 as hash, not is_off as enabled, made as created_at
    from old.bundle;
  create view legacy.tokens as
    select nr as id, person as user_id, person_name as user_name, person_mail as user_email, title as name,
      start as token_prefix, pbkdf2 as hash, ends as expires_at, is_revoked as revoked, made as created_at
    from old.person_token;`

/** Creates a database with these tables and views. `fill` inserts the rows. */
export async function createOldDatabase(
  idType: OldInstall['idType'],
  fill: (client: Client) => Promise<void>,
): Promise<TestDatabase> {
  const database = await createEmptyDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query(tables(idType))
    await client.query(exampleViews)
    await fill(client)
  } finally {
    await client.end()
  }
  return database
}

const first = Date.parse('2024-01-01T00:00:00Z')
const made = (index: number): string => new Date(first + index * 1_000).toISOString()
const bytes = (hex: string | null): string | null => (hex === null ? null : String.raw`\x${hex}`)

/** Converts the rows to the old layout. */
function tableRows(rows: OldInstall): Record<string, object[]> {
  const at = <T extends object>(list: readonly T[], columns: (row: T) => object): object[] =>
    list.map((row, index) => ({ ...columns(row), made: made(index) }))
  return {
    project: at(rows.projects, (p) => ({ nr: p.id, title: p.name, handle: p.slug })),
    tenant: at(rows.tenants, (t) => ({
      nr: t.id,
      project_nr: t.project_id,
      title: t.name,
      handle: t.slug,
      kind: t.type,
      mode: t.deployment_mode,
    })),
    app: at(rows.applications, (a) => ({
      nr: a.id,
      tenant_nr: a.tenant_id,
      project_nr: a.project_id,
      copied_from: a.clone_of,
      handle: a.slug,
      title: a.name,
      notes: a.description,
      is_off: !a.enabled,
    })),
    tenant_person: at(rows.members, (m) => ({
      tenant_nr: m.tenant_id,
      person: m.user_id,
      rights: m.role,
      person_name: m.name,
      person_mail: m.email,
    })),
    robot: at(rows.machines, (m) => ({
      nr: m.id,
      tenant_nr: m.tenant_id,
      title: m.name,
      login: m.username,
      is_off: !m.enabled,
      token_start: m.token_prefix,
      token_sha256: bytes(m.token_hash),
      password: m.password_hash,
    })),
    callback: at(rows.backends, (b) => ({
      nr: b.id,
      app_nr: b.application_id,
      robot_nr: b.machine_user_id,
      address: b.callback_url,
      secret: b.callback_token,
      release: b.version,
    })),
    config: rows.settings.map(({ id, owner_id, ...rest }) => ({ nr: id, owner_nr: owner_id, ...rest })),
    ...endpointRows(rows, at),
    bundle: at(rows.pilets, (p) => ({
      nr: p.id,
      project_nr: p.project_id,
      package: p.name,
      release: p.version,
      notes: p.description,
      media_type: p.content_type,
      bytes: bytes(p.content),
      sha256: p.hash,
      is_off: !p.enabled,
    })),
    person_token: at(rows.tokens, (t) => ({
      nr: t.id,
      person: t.user_id,
      person_name: t.user_name,
      person_mail: t.user_email,
      title: t.name,
      start: t.token_prefix,
      pbkdf2: t.hash,
      ends: t.expires_at,
      is_revoked: t.revoked,
    })),
  }
}

type At = <T extends object>(list: readonly T[], columns: (row: T) => object) => object[]
const endpointRows = ({ endpoints }: OldInstall, at: At): Record<string, object[]> => ({
  route: at(endpoints, (e) => ({
    nr: e.id,
    app_nr: e.application_id,
    title: e.name,
    notes: e.description,
    is_off: !e.enabled,
    path: e.consume_url,
    target: e.url,
    auth: e.auth_type,
    auth_login: e.auth_username,
    auth_password: e.auth_password,
    auth_token: e.auth_token,
    takes: e.input_message_type,
    gives: e.output_message_type,
    template: e.transformation_template,
    logging: e.log_level,
  })),
  route_robot: endpoints.flatMap(({ id, callers }) => callers.map((by) => ({ route_nr: id, robot_nr: by }))),
})

/** Stores the installation in a new database. */
export const storeInstall = (install: OldInstall): Promise<TestDatabase> =>
  createOldDatabase(install.idType, async (client) => {
    for (const [table, rows] of Object.entries(tableRows(install)))
      await client.query(
        `insert into old.${table} select * from jsonb_populate_recordset(null::old.${table}, $1::jsonb)`,
        [JSON.stringify(rows)],
      )
  })
