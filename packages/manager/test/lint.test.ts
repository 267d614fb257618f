// The import rules are lint rules; each is shown to catch what it forbids.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
let dir: string
beforeAll(() => {
  dir = mkdtempSync(`${tmpdir()}/manager-lint-`)
  cpSync(`${root}.oxlintrc.json`, `${dir}/.oxlintrc.json`)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Lints one file at this place in the source tree; answers what the linter says. */
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
const use = (what: string, from: string): string =>
  `import { ${what} } from '${from}'\nexport const used = ${what}\n`

const forbidden: [string, string, RegExp][] = [
  ['features/a/a.resolvers.ts', './a.store.ts', /never to a store/],
  ['features/a/a.routes.ts', '../../platform/db/database.ts', /do not touch the database/],
  ['features/a/a.resolvers.ts', 'kysely', /do not touch the database/],
  ['features/a/a.resolvers.ts', '../b/b.service.ts', /arrive as arguments/],
  ['features/a/a.service.ts', 'fastify', /no transport/],
  ['features/a/a.service.ts', '../../platform/graphql/batch.ts', /knows no transport/],
  ['features/a/a.service.ts', '../b/b.store.ts', /Only another feature's index/],
  ['features/a/a.service.ts', '../b/index.ts', /import types only/],
  ['features/a/a.store.ts', './a.service.ts', /nothing above it/],
  ['features/a/a.store.ts', '../b/b.store.ts', /knows no other feature/],
  ['features/a/a.store.ts', 'graphql', /knows no transport/],
  ['features/a/index.ts', '../b/index.ts', /import types only/],
  ['features/memberships/grants.ts', '../../platform/db/database.ts', /pure file/],
  ['policy/actor.ts', '../features/users/index.ts', /Policy knows no feature/],
  ['platform/log.ts', '../policy/roles.ts', /platform knows neither/],
  ['platform/http/server.ts', '../../features/users/index.ts', /platform knows neither/],
]

describe('lint rules', () => {
  test.each(forbidden)('%s may not import %s', (place, from, message) => {
    expect(lint(place, use('x', from))).toMatch(message)
  })

  test('types of another feature may be named where its functions arrive as arguments', () => {
    const types = "import type { X } from '../b/index.ts'\nexport type Used = X\n"
    for (const place of ['features/a/index.ts', 'features/a/a.service.ts', 'features/a/a.resolvers.ts'])
      expect(lint(place, types)).not.toMatch(/no-restricted-imports/)
  })

  test('the environment is read in one file only', () => {
    const source = "export const home = process.env['HOME']\n"
    expect(lint('platform/log.ts', source)).toMatch(/no-process-env/)
    expect(lint('config.ts', source)).not.toMatch(/no-process-env/)
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
  })
})
