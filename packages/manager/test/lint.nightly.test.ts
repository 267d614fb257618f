// Tests the lint rules for imports. Each rule must detect a planted violation.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, matchesGlob } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
let dir: string
beforeAll(() => {
  dir = mkdtempSync(`${tmpdir()}/manager-lint-`)
  cpSync(`${root}.oxlintrc.json`, `${dir}/.oxlintrc.json`)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Lints a file at this path in the source tree and returns the linter output. */
function lint(place: string, source: string): string {
  const file = `${dir}/packages/manager/src/${place}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, source)
  try {
    return execFileSync(`${root}node_modules/.bin/oxlint`, ['--format', 'json', file], {
      cwd: dir,
      encoding: 'utf8',
    })
  } catch (error) {
    return (error as { stdout: string }).stdout
  } finally {
    rmSync(file)
  }
}
const readLintConfig = (): { overrides: unknown[] } =>
  JSON.parse(readFileSync(`${root}.oxlintrc.json`, 'utf8')) as { overrides: unknown[] }
const use = (what: string, from: string): string =>
  `import { ${what} } from '${from}'\nexport const used = ${what}\n`

const forbidden: [string, string, RegExp][] = [
  ['features/a/helpers.ts', './a.pure.ts', /of a known kind/],
  ['features/a/a.helper.ts', 'node:path', /of a known kind/],
  ['features/a/deep/a.service.ts', '../a.pure.ts', /of a known kind/],
  ['features/a/a.resolvers.ts', './a.store.ts', /never a store/],
  ['features/a/a.socket.ts', './a.store.ts', /never a store/],
  ['features/a/a.jobs.ts', './a.store.ts', /of a known kind/],
  ['features/a/a.routes.ts', '../../platform/postgres/database.ts', /must not access the database\./],
  ['features/a/a.resolvers.ts', 'kysely', /must not access the database or Redis/],
  ['features/a/a.resolvers.ts', '../b/b.service.ts', /import only types from their index/],
  ['features/a/a.service.ts', 'fastify', /must not import a transport or a driver/],
  ['features/a/a.service.ts', 'ioredis', /must not import a transport or a driver/],
  ['features/a/a.service.ts', '../../platform/graphql/loaders.ts', /A service must not import a transport\./],
  ['features/a/a.schemas.ts', './a.service.ts', /Schemas declare/],
  ['features/a/a.schemas.ts', 'fastify', /Schemas declare/],
  ['features/a/a.schemas.ts', '../b/b.schemas.ts', /Schemas must not import another feature/],
  ['features/a/a.service.ts', '../b/b.store.ts', /Only another feature's index/],
  ['features/a/a.service.ts', '../b/index.ts', /import only types\./],
  ['features/a/a.store.ts', './a.service.ts', /must not import a higher layer/],
  ['features/a/a.store.ts', '../b/b.store.ts', /A store must not import another feature/],
  ['features/a/a.store.ts', 'graphql', /A store must not import a transport/],
  ['features/a/index.ts', '../b/index.ts', /import only types\./],
  [
    'features/a/a.page.ts',
    '../../platform/postgres/database.ts',
    /A page is HTML built only from its arguments/,
  ],
  ['features/a/a.page.ts', './a.service.ts', /A page is HTML built only from its arguments/],
  ['features/a/a.page.ts', '../b/b.page.ts', /A page must not import another feature/],
  ['features/a/a.page.ts', 'fastify', /A page is HTML built only from its arguments/],
  ['features/a/a.pure.ts', '../../platform/postgres/database.ts', /A pure file must not import a database/],
  ['features/a/a.pure.ts', '../../platform/clock.ts', /A pure file must not import a database/],
  ['features/a/a.query.ts', './a.store.ts', /A pure file must not import a database/],
  ['features/a/a.pure.ts', './a.store.ts', /A pure file must not import a database/],
  ['features/a/a.pure.ts', 'node:fs/promises', /A pure file must not import a database/],
  ['features/a/a.pure.ts', '../b/b.pure.ts', /A pure file must not import another feature/],
  ['features/a/a.settings.ts', './a.service.ts', /must not import code that runs/],
  ['features/a/a.settings.ts', '../../platform/postgres/database.ts', /must not import code that runs/],
  ['features/a/a.settings.ts', '../b/b.settings.ts', /Settings and metrics must not import another feature/],
  ['features/a/a.metrics.ts', './a.service.ts', /must not import code that runs/],
  ['features/a/a.worker.ts', './a.store.ts', /A worker runs pure files/],
  ['features/a/a.worker.ts', '../b/b.pure.ts', /A worker must not import another feature/],
  ['policy/actor.ts', '../features/users/index.ts', /Policy must not import a feature/],
  ['platform/log/log.ts', '../policy/roles.ts', /platform must not import/],
  ['platform/http/server.ts', '../../features/users/index.ts', /platform must not import/],
  [
    'platform/throttle/failure-window.ts',
    '../postgres/database.ts',
    /A pure file must not import a database, clock or transport/,
  ],
  ['platform/throttle/failure-window.ts', '../../policy/roles.ts', /platform must not import/],
]
type Override = { rules: { 'no-restricted-imports'?: 'off' | [string, { patterns: { message: string }[] }] } }

describe('lint rules', () => {
  test.each(forbidden)('%s may not import %s', (place, from, message) => {
    expect(lint(place, use('x', from))).toMatch(message)
  })

  test('every rule about imports is among those shown', () => {
    const overrides = readLintConfig().overrides as Override[]
    const messages = overrides.flatMap(({ rules }) => {
      const rule = rules['no-restricted-imports']
      return rule === undefined || rule === 'off' ? [] : rule[1].patterns.map(({ message }) => message)
    })
    expect(messages.length).toBeGreaterThan(15)
    const unshown = messages.filter((message) => !forbidden.some(([, , shown]) => shown.test(message)))
    expect(unshown).toEqual([])
  })

  test('every kind of file may import what it is made of, and tests what they like', () => {
    const allowed: [string, string][] = [
      ['features/a/index.ts', './a.service.ts'],
      ['features/a/a.resolvers.ts', './a.service.ts'],
      ['features/a/a.routes.ts', './a.schemas.ts'],
      ['features/a/a.socket.ts', './a.service.ts'],
      ['features/a/a.service.ts', './a.store.ts'],
      ['features/a/a.store.ts', 'kysely'],
      ['features/a/a.pure.ts', './b.pure.ts'],
      ['features/a/a.schemas.ts', './a.pure.ts'],
      ['features/a/a.page.ts', '../../platform/http/pages/html.ts'],
      ['features/a/a.settings.ts', '../../config/readers.ts'],
      ['features/a/a.worker.ts', './a.pure.ts'],
      ['features/a/a.test.ts', '../b/b.store.ts'],
    ]
    for (const [place, from] of allowed)
      expect([place, lint(place, use('x', from))]).toEqual([
        place,
        expect.not.stringMatching(/no-restricted-imports/),
      ])
  })

  test('types of another feature may be named where its functions arrive as arguments', () => {
    const types = "import type { X } from '../b/index.ts'\nexport type Used = X\n"
    for (const place of ['features/a/index.ts', 'features/a/a.service.ts', 'features/a/a.resolvers.ts'])
      expect(lint(place, types)).not.toMatch(/no-restricted-imports/)
  })

  test('the environment is read in one file only', () => {
    const source = "export const home = process.env['HOME']\n"
    expect(lint('platform/log/log.ts', source)).toMatch(/no-process-env/)
    expect(lint('config/config.ts', source)).not.toMatch(/no-process-env/)
  })

  test('long files, long parameter lists and default exports are refused', () => {
    expect(lint('platform/x.ts', '// a line\n'.repeat(401))).toMatch(/max-lines/)
    expect(lint('platform/x.ts', 'export const f = (a, b, c, d, e) => [a, b, c, d, e]\n')).toMatch(
      /max-params/,
    )
    expect(lint('platform/x.ts', 'const a = 1\nexport default a\n')).toMatch(/no-default-export/)
  })

  test('an import cycle is refused', () => {
    const other = `${dir}/packages/manager/src/platform/two.ts`
    mkdirSync(dirname(other), { recursive: true })
    writeFileSync(other, "import { one } from './one.ts'\nexport const two = () => one()\n")
    expect(
      lint('platform/one.ts', "import { two } from './two.ts'\nexport const one = () => two()\n"),
    ).toMatch(/no-cycle/)
    writeFileSync(other, "import type { One } from './one.ts'\nexport type Two = One\n")
    expect(
      lint('platform/one.ts', "import type { Two } from './two.ts'\nexport type One = Two | 1\n"),
    ).toMatch(/no-cycle/)
  })

  // Generated files are not linted, but import cycles can include them.
  test('the files that may be in a circle of types are in one, and no others are', () => {
    const overrides = readLintConfig().overrides as { files: string[]; rules: Record<string, unknown> }[]
    const excused = overrides.flatMap(({ files, rules }) =>
      rules['import/no-cycle'] === 'error' ? files : [],
    )
    writeFileSync(
      `${dir}/circles.json`,
      JSON.stringify({
        plugins: ['import'],
        categories: { correctness: 'off' },
        rules: { 'import/no-cycle': ['error', { ignoreTypes: false }] },
        ignorePatterns: ['**/generated/**'],
      }),
    )
    const { stdout } = spawnSync(
      `${root}node_modules/.bin/oxlint`,
      ['-c', `${dir}/circles.json`, '--format', 'json', 'packages'],
      { cwd: root, encoding: 'utf8' },
    )
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string }[] }
    const found = [...new Set(diagnostics.map(({ filename }) => filename))]
    const isExcused = (file: string): boolean => excused.some((pattern) => matchesGlob(file, pattern))
    expect(found.filter((file) => !isExcused(file))).toEqual([])
    const needless = excused.filter((pattern) => !found.some((file) => matchesGlob(file, pattern)))
    expect(needless).toEqual([])
  })
})
