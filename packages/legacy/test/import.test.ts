// Tests the import of projects, tenants, applications, members and settings, rule by rule.
import { afterEach, describe, expect, test } from 'vitest'
import { createScratchDatabase } from '../../manager/test/kit/databases.ts'
import { type Builder, type BuilderOptions, buildInstall } from './builder.ts'
import { findDifferences } from './differences.ts'
import { dump } from './dump.ts'
import { type Imported, importInstall, newIdOf, readClones, runImport } from './imported.ts'
import { oddNames, oddSlugs } from './odd-texts.ts'
import { storeInstall } from './old-database.ts'
import { importRandomInstall } from './random-import.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Builds and imports an old installation. */
async function imported<T>(
  build: (b: Builder) => T,
  options: BuilderOptions = {},
): Promise<Imported & { built: T }> {
  let built: T | undefined
  const done = await importInstall((upstream) => {
    const builder = buildInstall({ upstream, ...options })
    built = build(builder)
    return builder.install
  })
  closing.push(() => done.close())
  return { ...done, built: built as T }
}
const applicationsOf = async ({ service }: Imported) =>
  (
    await service.sql.query<{ id: string; slug: string; name: string; description: string }>(
      'select id, slug, name, description from applications order by slug',
    )
  ).rows
const rulesOf = ({ ledger }: Imported, view: string, { id }: { id: string }): string[] | undefined =>
  ledger.get(view)?.get(id)?.rules

describe('applications', () => {
  test('that were cloned into tenants become one of the project [versioning.migrate-applications]', async () => {
    const done = await imported((b) => {
      const project = b.project()
      const [one, two, three] = [b.tenant(project), b.tenant(project), b.tenant(project)]
      const root = b.application(one, { slug: 'shop', name: 'Shop', description: 'the first' })
      const copy = b.application(two, { slug: 'shop', name: 'Shop of two', clone_of: root.id })
      // This clone of a clone has a different slug.
      const last = b.application(three, { slug: 'shop3', name: 'Shop', clone_of: copy.id, enabled: false })
      b.setting('application', copy, { DefaultTheme: 'dark' })
      return { root, copy, last }
    })
    const { root, copy } = done.built
    expect(await findDifferences(done)).toEqual([])
    expect(await applicationsOf(done)).toEqual([
      { id: root.id, slug: 'shop', name: 'Shop', description: 'the first' },
    ])
    const clones = await readClones(done)
    expect([...clones.values()].map(({ enabled }) => enabled)).toEqual([true, true, false])
    expect(rulesOf(done, 'applications', copy)).toContain('clone-texts')
  })

  test('of one slug are one, unless they come from different ones [versioning.migrate-applications]', async () => {
    const done = await imported((b) => {
      const project = b.project()
      const [one, two] = [b.tenant(project), b.tenant(project)]
      const bySlug = [b.application(one, { slug: 'desk' }), b.application(two, { slug: 'desk' })]
      const template = b.application(null, { project_id: project.id, slug: 'news' })
      const ofTemplate = [one, two].map((tenant) =>
        b.application(tenant, { slug: 'news', clone_of: template.id }),
      )
      const elsewhere = b.application(b.tenant(b.project()), { slug: 'desk' })
      return { bySlug, ofTemplate, template, elsewhere }
    })
    expect(await findDifferences(done)).toEqual([])
    const clones = await readClones(done)
    const at = ({ id }: { id: string }) => clones.get(id)?.applicationId
    const { bySlug, ofTemplate, template, elsewhere } = done.built
    expect(new Set(bySlug.map(at)).size).toBe(1)
    expect(ofTemplate.map(at)).toEqual([template.id, template.id])
    expect(at(elsewhere)).toBe(elsewhere.id)
    expect((await applicationsOf(done)).map(({ slug }) => slug)).toEqual(['desk', 'desk', 'news'])
  })

  test('that only share a slug with clones do not take their places', async () => {
    const done = await imported((b) => {
      const project = b.project()
      const [one, two] = [b.tenant(project), b.tenant(project)]
      const older = b.application(two, { slug: 'shop' })
      const root = b.application(one, { slug: 'shop' })
      const clone = b.application(two, { slug: 'shop', clone_of: root.id })
      return { older, root, clone }
    })
    expect(await findDifferences(done)).toEqual([])
    const { older, root, clone } = done.built
    const clones = await readClones(done)
    expect([root, clone, older].map(({ id }) => clones.get(id)?.applicationId)).toEqual([
      root.id,
      root.id,
      older.id,
    ])
  })

  test('that a tenant has twice stay two', async () => {
    const done = await imported((b) => {
      const tenant = b.tenant(b.project())
      const root = b.application(tenant, { slug: 'shop' })
      return { second: b.application(tenant, { slug: 'shop', clone_of: root.id }) }
    })
    expect(await findDifferences(done)).toEqual([])
    expect((await applicationsOf(done)).map(({ slug }) => slug)).toEqual(['shop', 'shop-2'])
    expect(rulesOf(done, 'applications', done.built.second)).toContain('second-clone')
  })

  test('whose origins are lost or go in a circle come over all the same', async () => {
    const done = await imported((b) => {
      const project = b.project()
      const [one, two, three] = [b.tenant(project), b.tenant(project), b.tenant(project)]
      const lost = { clone_of: b.newId(), slug: 'lost' }
      b.application(one, lost)
      b.application(two, lost)
      const [x, y, z] = [one, two, three].map((tenant) => b.application(tenant, { slug: 'circle' }))
      Object.assign(x as object, { clone_of: z?.id })
      Object.assign(y as object, { clone_of: x?.id })
      Object.assign(z as object, { clone_of: y?.id })
    })
    expect(await findDifferences(done)).toEqual([])
    expect((await applicationsOf(done)).map(({ slug }) => slug)).toEqual(['circle', 'lost'])
  })
})

test('settings of clones that differ in every field and order answer as they did', async () => {
  const pairs = (text: string) => Array.from(text).map((Key) => ({ Key, Value: `${Key} of ${text}` }))
  const done = await imported((b) => {
    const project = b.project()
    b.setting(
      'project',
      project,
      { KeyValuePairs: pairs('ab'), DefaultTheme: 'p' },
      { EnabledModules: ['p'] },
    )
    const tenants = ['cb', 'ba', '', 'd'].map((keys) => {
      const tenant = b.tenant(project)
      b.setting('tenant', tenant, { KeyValuePairs: pairs(keys), EnabledThemes: keys === '' ? [] : [keys] })
      return tenant
    })
    const orders = [pairs('dca'), pairs('acd'), pairs('x'), []]
    for (const [index, tenant] of tenants.entries()) {
      const clone = b.application(tenant, { slug: 'shop' })
      b.setting('application', clone, {
        KeyValuePairs: orders[index],
        DefaultTheme: 'same',
        DefaultLocale: '',
      })
      const other = b.application(tenant, { slug: 'desk' })
      b.setting(
        'application',
        other,
        { KeyValuePairs: pairs('ae'), DefaultTheme: 'same' },
        { EnabledModules: ['a'] },
      )
    }
  })
  expect(await findDifferences(done)).toEqual([])
})

test('names and slugs are made to fit, and stay apart', async () => {
  const done = await imported(
    (b) => {
      const project = b.project()
      const tenants = oddSlugs.map((slug, index) =>
        b.tenant(project, { slug, name: oddNames[index] ?? 'Odd' }),
      )
      for (const [index, slug] of oddSlugs.entries())
        b.application(tenants[0] as { id: string }, {
          slug,
          name: oddNames[index] ?? 'Odd',
          description: 'd'.repeat(3_000),
        })
      for (const name of oddNames) b.project({ name, slug: 'SAME' })
      return { tenants }
    },
    { idType: 'bigint' },
  )
  expect(await findDifferences(done)).toEqual([])
  const { tenants } = done.built
  expect(tenants.filter((tenant) => newIdOf(done, 'tenants', tenant.id) === null)).toEqual([])
  expect(rulesOf(done, 'tenants', tenants[1] as { id: string })).toContain('slug-fitted')
})

describe('types of tenants', () => {
  test('become environments [versioning.migrate-environments]', async () => {
    const types = ['dev', 'development', 'qas', 'qa', 'test', 'staging', 'run', 'prod', 'production', 'live']
    const done = await imported((b) => {
      const project = b.project()
      for (const type of types) {
        const tenant = b.tenant(project, { type })
        b.backend(b.application(tenant, { slug: 'shop' }), b.bearer(tenant))
      }
    })
    expect(await findDifferences(done)).toEqual([])
    const { rows } = await done.service.sql.query(
      `select e.name, count(*)::int from backend_registrations b join environments e on e.id = b.environment_id
       group by 1 order by 1`,
    )
    expect(rows).toEqual([
      { name: 'dev', count: 2 },
      { name: 'qas', count: 4 },
      { name: 'run', count: 4 },
    ])
  })

  test('that nobody knows are named, and nothing is imported until the operator says', async () => {
    const b = buildInstall()
    b.tenant(b.project(), { type: 'Kunden' })
    const [old, database] = await Promise.all([storeInstall(b.install), createScratchDatabase()])
    const before = await dump(database.url)
    const refused = await runImport(database, old.url)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('Kunden')
    expect(await dump(database.url)).toBe(before)
    expect(await runImport(database, old.url, { Kunden: 'run' })).toMatchObject({ code: 0 })
    await Promise.all([old.drop(), database.drop()])
  })
})

test('roles of tenants: owner, maintainer as admin, all others as member [versioning.migrate-roles]', async () => {
  const done = await imported((b) => {
    const tenant = b.tenant(b.project())
    b.application(tenant)
    for (const role of ['owner', 'maintainer', 'developer', 'readonly', '', 'OWNER'])
      b.member(tenant, b.random.uuid(), role)
    const twice = b.random.uuid()
    b.member(tenant, twice, 'member')
    b.member(tenant, twice, 'maintainer')
    b.member(tenant, 'jane', 'owner')
    b.member({ id: b.newId() }, twice, 'owner')
    return { tenant, twice }
  })
  expect(await findDifferences(done)).toEqual([])
  const { rows } = await done.service.sql.query(
    'select role_name, count(*)::int from user2tenants group by 1 order by 1',
  )
  expect(rows).toEqual([
    { role_name: 'admin', count: 2 },
    { role_name: 'member', count: 4 },
    { role_name: 'owner', count: 1 },
  ])
  const { tenant, twice } = done.built
  const own = [`${tenant.id}/${twice}`, `${tenant.id}/${twice}/2`].map((id) =>
    done.ledger.get('tenant_members')?.get(id),
  )
  expect(own.map((row) => row?.outcome ?? '').toSorted()).toEqual(['merged', 'moved'])
})

test.each([101, 104])('random install %i comes over, and a second run changes nothing', async (seed) => {
  expect(await importRandomInstall({ seed, odd: 0.2 })).toEqual([])
})
