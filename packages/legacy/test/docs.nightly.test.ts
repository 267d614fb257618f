// Runs the guide for migrating from an older installation. The SQL on the page creates the old installation, and bash
// runs the commands. Only the database addresses differ.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rules } from '../src/rules.ts'
import { views } from '../src/views.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TestDatabase, copyDatabase, createEmptyDatabase } from '../../manager/test/kit/databases.ts'
import {
  type Answer,
  type Step,
  blocksOf,
  expectMistakesToShow,
  runSteps,
  readPage,
  stepsOf,
} from '../../manager/test/kit/doc-page-runner.ts'
import { createShell } from '../../manager/test/kit/doc-shell.ts'
import { runLegacy } from './run-legacy.ts'

const root = new URL('../../../', import.meta.url).pathname
const others = ['sql']
const page = readPage('guides/operators/migrate-from-an-older-installation.md')
const reference = readPage('reference/legacy-views.md')

let old: TestDatabase
let now: TestDatabase
let steps: Step[]
let answers: Answer[]

async function query(database: TestDatabase, text: string): Promise<void> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  ;[old, now] = await Promise.all([createEmptyDatabase(), createEmptyDatabase()])
  for (const { language, text } of blocksOf(page)) if (language === 'sql') await query(old, text)
  steps = stepsOf(page.replaceAll(/postgres:\/\/\w+@old-host\/old/g, old.url), others)
  const shell = createShell(root, { ...process.env, ...testEnv(now.url) })
  answers = await runSteps(steps, (_language, command) => shell(command))
})
afterAll(() => Promise.all([old.drop(), now.drop()]))

test('[versioning.migrate-applications] [versioning.migrate-environments] [versioning.migrate-roles] an operator brings an old install over with the page alone; a mistake in any answer shows', async () => {
  expect(answers.length).toBe(6)
  await expectMistakesToShow(steps, answers)
})

test('every rule is explained, in the words of the report', () => {
  const explained = [...reference.matchAll(/^\| `([a-z-]+)` +\| (.+?) +\|$/gm)].map(([, rule, text]) => [
    rule,
    text,
  ])
  expect(Object.fromEntries(explained)).toMatchObject(rules)
})

test('every column of every view is in its table', () => {
  const table = reference.slice(reference.indexOf('| view '), reference.indexOf('## Import rules'))
  for (const [view, { columns }] of Object.entries(views)) {
    const row = table.split('\n').find((line) => line.startsWith(`| \`${view}\``)) ?? ''
    const [, , required = '', optional = ''] = row.split('|')
    for (const [name, column] of Object.entries(columns).filter(([name]) => name !== 'created_at'))
      expect([view, name, (column.required === true ? required : optional).includes(`\`${name}\``)]).toEqual([
        view,
        name,
        true,
      ])
  }
})

// These changes were made after the import, so the check must report each change.
test.each([
  [
    'a row is gone',
    `delete from user2tenants where ctid = (select min(ctid) from user2tenants)`,
    'rows that represent old rows',
  ],
  [
    'a setting has changed',
    `update settings set frontend_module_config = '{"DefaultTheme": "blue"}' where tenant_id is not null and application_id is not null`,
    'the same settings',
  ],
  ['an application is off', `update tenant2applications set enabled = false`, 'the same tenants'],
  [
    'somebody came in',
    `insert into users (id, external_username) values ('7d1b1a52-6c1f-4a57-9d0e-0a4a3c9f0009', 'eve');
    insert into user2tenants (id, project_id, tenant_id, user_id, role_name)
    select gen_random_uuid(), project_id, id, '7d1b1a52-6c1f-4a57-9d0e-0a4a3c9f0009', 'member' from tenants`,
    'who already were members',
  ],
  ['a role is higher', `update user2tenants set role_name = 'owner'`, 'roles in tenants'],
  ['a token is another', `update machine_users set token_hash = sha256('other')`, 'the same credential'],
  [
    'a machine user is elsewhere',
    `update machine_users m set environment_id = (select id from environments e where e.project_id = m.project_id and name = 'dev')`,
    'the right environment',
  ],
  ['an old row is unaccounted for', `delete from legacy_rows where view = 'endpoints'`, 'accounted for'],
])('the check finds that %s', async (_what, change, part) => {
  const copy = await copyDatabase(now)
  try {
    await query(copy, change)
    const { code, stdout } = await runLegacy(['check', '--from', old.url], testEnv(copy.url))
    const differing = stdout.split('\n').filter((line) => / [1-9]\d*$/.test(line))
    expect([code, differing.some((line) => line.includes(part))]).toEqual([1, true])
  } finally {
    await copy.drop()
  }
})

test('an import of rows that have changed since is refused', async () => {
  await query(old, `insert into project values (2, 'Late', 'late')`)
  const { code, stderr } = await runLegacy(['import', '--from', old.url], testEnv(now.url))
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('has changed since the import started: legacy.projects.'),
  ])
  await query(old, `delete from project where nr = 2`)
  expect(await runLegacy(['import', '--from', old.url], testEnv(now.url))).toMatchObject({
    code: 0,
  })
})
