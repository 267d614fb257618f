// Tests the import output for the operator: the plan, the counts and the rows to which a rule applied. The
// output must not contain secrets.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, createScratchDatabase } from '../../manager/test/kit/databases.ts'
import { dump } from './dump.ts'
import { runImport, runReported } from './imported.ts'
import { storeInstall } from './old-database.ts'
import { randomInstall } from './random-install.ts'

type Counts = { view: string; read: number; moved: number; merged: number; kept_aside: number }
type Summary = { views: Counts[]; rules: { rule: string; rows: number }[] }

const install = randomInstall({ seed: 12, odd: 0.3 })
const scene = {} as { old: TestDatabase; database: TestDatabase }
beforeAll(async () => {
  const [old, database] = await Promise.all([storeInstall(install), createScratchDatabase()])
  Object.assign(scene, { old, database })
})
afterAll(() => Promise.all([scene.old.drop(), scene.database.drop()]))

/** Secrets that must not appear in any output. */
const secrets = [
  ...install.secrets.tokens.values(),
  ...[...install.secrets.machines.values()].flatMap((secret) => Object.values(secret)),
  ...install.machines.flatMap(({ token_hash, password_hash }) => [token_hash, password_hash]),
  ...install.tokens.map(({ hash }) => hash),
  ...install.backends.map(({ callback_token }) => callback_token),
  ...install.endpoints.flatMap(({ auth_password, auth_token }) => [auth_password, auth_token]),
].filter((secret) => secret !== null)

describe('an import', () => {
  test('with --plan changes nothing and says what it would do', async () => {
    const before = await dump(scene.database.url)
    const { code, stdout } = await runImport(scene.database, scene.old.url, install.types, [
      '--plan',
      '--json',
    ])
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as Summary).views.find(({ view }) => view === 'settings')?.read).toBe(
      install.settings.length,
    )
    expect(await dump(scene.database.url)).toBe(before)
  })

  test('accounts for every row, names the rows of every rule, and shows no secret', async () => {
    const { code, stdout, stderr, report } = await runReported(scene.database, scene.old.url, install.types)
    expect(code).toBe(0)
    const lines = report
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { rules?: string[] })
    const { summary } = lines.at(-1) as { summary: Summary }
    const counted = Object.fromEntries(summary.views.map(({ view, read }) => [view, read]))
    expect(counted).toMatchObject({ projects: install.projects.length, endpoints: install.endpoints.length })
    expect(counted).toMatchObject({ tenant_members: install.members.length, tokens: install.tokens.length })
    for (const { read, moved, merged, kept_aside } of summary.views)
      expect(moved + merged + kept_aside).toBe(read)
    const named = lines.flatMap(({ rules = [] }) => rules)
    expect(summary.rules.length).toBeGreaterThan(5)
    for (const { rule, rows } of summary.rules)
      expect(named.filter((name) => name === rule)).toHaveLength(rows)
    expect(secrets.filter((secret) => `${stdout}${stderr}${report}`.includes(secret))).toEqual([])
  })
})
