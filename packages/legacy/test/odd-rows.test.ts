// Tests rows that no release would have written, from views that an operator wrote. None of these rows may grant
// access, abort an import halfway, or produce an unreadable row.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEnv } from '@manager/harness/test-env.ts'
import {
  type TestDatabase,
  createEmptyDatabase,
  createScratchDatabase,
} from '../../manager/test/kit/databases.ts'
import { runLegacy } from './run-legacy.ts'

const person = 'AAAAAAAA-0000-4000-8000-00000000000A'
const hash = `$pbkdf2-sha256$i=1000$c2FsdHNhbHQ$${Buffer.alloc(32, 1).toString('base64url')}`
const views = `
  create schema legacy;
  create view legacy.projects as select 1 as id, 'P' as name, 'p' as slug, '-infinity'::timestamptz as created_at;
  create view legacy.tenants as select * from (values (11, 1, 'A', '東京', 'run'), (12, 1, 'B', '大阪', 'run'))
    t (id, project_id, name, slug, type);
  create view legacy.applications as select * from (values
    (21, 11, '', 'CRM', true), (22, 12, '', 'Billing', true), (23, 12, 'off', 'Unknown', null))
    a (id, tenant_id, slug, name, enabled);
  create view legacy.tenant_members as select * from (values
    (11, '${person}', 'viewer'), (11, '${person.toLowerCase()}', 'owner'), (12, 'a/b', 'owner'), (null, null, 'owner'), (null, '', 'owner'))
    m (tenant_id, user_id, role);
  create view legacy.machine_users as select * from (values
    (31, 11, 'unknown', null, sha256('a'), 'abcdefgh', null, null), (32, 11, 'bad prefix', true, sha256('b'), 'abc', null, null),
    (33, 11, 'good prefix', true, sha256('b'), 'abcdefgi', null, null),
    (34, 11, 'ducks', true, null, null, repeat('🦆', 50), '${hash}'), (35, 12, 'more ducks', true, null, null, repeat('🦆', 50), '${hash}'),
    (36, 12, 'long hash', true, null, null, 'long', '${hash}AAAA'))
    m (id, tenant_id, name, enabled, token_hash, token_prefix, username, password_hash);
  create view legacy.settings as select 51 as id, null::int as project_id, null::int as tenant_id, 99 as application_id,
    '{"KeyValuePairs": [{"Key": "k", "Value": "top-secret"}]}'::jsonb as backend_module_config, '{}'::jsonb as frontend_module_config;
  create view legacy.endpoints as select 41 as id, 21 as application_id, 'Leaky' as name, '/leaky' as consume_url,
    'https://user:top-secret@partner.example/' as url, 'user:top-secret' as auth_username, 'top-secret' as transformation_template;
  create view legacy.backends as select 61 as id, 21 as application_id, 33 as machine_user_id,
    'https://backend.example/' as callback_url, 'token' as callback_token, 'infinity'::timestamptz as last_heartbeat;
  create view legacy.pilets as select 1 as id, 1 as project_id, '' as name, '' as version, ''::bytea as content where false;
  create view legacy.tokens as select * from (values
    (71, '${person}', 'never ends', 'AAAAAAA1', '${hash}', 'infinity'::timestamptz, false),
    (72, '${person}', 'ended', 'AAAAAAA2', '${hash}', '-infinity', false), (73, '${person}', 'unknown', 'AAAAAAA3', '${hash}', null, null),
    (74, 'nobody', 'no subject', 'AAAAAAA4', '${hash}', null, false), (75, '${person}', 'its prefix', 'AAAAAAA4', '${hash}', null, false))
    t (id, user_id, name, token_prefix, hash, expires_at, revoked);`

let old: TestDatabase
let now: TestDatabase
let client: Client
let result: { code: number; stdout: string; stderr: string }

beforeAll(async () => {
  ;[old, now] = await Promise.all([createEmptyDatabase(), createScratchDatabase()])
  const source = new Client({ connectionString: old.url })
  await source.connect()
  await source.query(views)
  await source.end()
  client = new Client({ connectionString: now.url })
  await client.connect()
  result = await runLegacy(['import', '--from', old.url], testEnv(now.url))
})
afterAll(async () => {
  await client.end()
  await Promise.all([old.drop(), now.drop()])
})

const one = async (text: string): Promise<unknown[]> =>
  (await client.query({ text, rowMode: 'array' })).rows.map((row: unknown[]) => row[0])
const ruleOf = (view: string, id: string): Promise<unknown[]> =>
  one(`select array_to_string(rules, ' ') from legacy_rows where view = '${view}' and old_id = '${id}'`)

describe('an import of odd rows', () => {
  test('ends, and its check finds old and new the same', () => {
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toContain('check: the old and the new installation match')
  })

  test('opens nothing that is not known to be open', async () => {
    expect(await one(`select enabled from machine_users where name = 'unknown'`)).toEqual([false])
    expect(
      await one(
        `select t.enabled from tenant2applications t join applications a on a.id = application_id where a.name = 'Unknown'`,
      ),
    ).toEqual([false])
    expect(await one(`select revoked from personal_access_tokens where name = 'unknown'`)).toEqual([true])
    expect(await one(`select expires_at < now() from personal_access_tokens where name = 'ended'`)).toEqual([
      true,
    ])
  })

  test('keeps times that can be read', async () => {
    expect(await one(`select created_at > '2020-01-01' from projects`)).toEqual([true])
    expect(await one(`select expires_at from personal_access_tokens where name = 'never ends'`)).toEqual([
      null,
    ])
    expect(await one(`select last_heartbeat <= now() from backend_registrations`)).toEqual([true])
  })

  test('takes a UUID in capitals for what it is, and gives the person the higher role once', async () => {
    expect(await one(`select role_name from user2tenants where user_id = '${person.toLowerCase()}'`)).toEqual(
      ['owner'],
    )
    expect(await one(`select count(*)::int from legacy_rows where view = 'tenant_members'`)).toEqual([5])
  })

  test('does not take applications without a slug for clones', async () => {
    expect(await one(`select name from applications where name <> 'Unknown' order by name`)).toEqual([
      'Billing',
      'CRM',
    ])
    expect(await one(`select slug from tenants order by slug`)).toEqual(['a', 'b'])
  })

  test('keeps a credential that works, whoever else claims it', async () => {
    expect(await ruleOf('machine_users', '32')).toEqual(['no-credential'])
    expect(await one(`select name from machine_users where token_prefix = 'abcdefgi'`)).toEqual([
      'good prefix',
    ])
    expect(await one(`select name from personal_access_tokens where token_prefix = 'AAAAAAA4'`)).toEqual([
      'its prefix',
    ])
    expect(await ruleOf('machine_users', '36')).toEqual(['no-credential'])
    expect(await one(`select username like '🦆%@b' from machine_users where name = 'more ducks'`)).toEqual([
      true,
    ])
  })

  test('keeps no secret of what it keeps aside', async () => {
    expect([await ruleOf('endpoints', '41'), await ruleOf('settings', '51')]).toEqual([
      ['endpoint-refused'],
      ['orphan'],
    ])
    expect(await one(`select count(*)::int from legacy_rows where detail::text like '%top-secret%'`)).toEqual(
      [0],
    )
  })
  // This test must run last, because it changes imported rows.
  test('is told apart from a token that ends at another time', async () => {
    await client.query(
      `update personal_access_tokens set expires_at = now() + interval '1 day' where name = 'never ends'`,
    )
    const { code, stdout } = await runLegacy(['check', '--from', old.url], testEnv(now.url))
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('different: the token 71\ncheck: 1 difference\n'),
    ])
  })
})
