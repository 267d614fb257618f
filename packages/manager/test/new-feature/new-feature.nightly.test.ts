// Tests a new feature on a copy of the sources. The feature needs only its own files, an import and a line in app.ts,
// and a line in the permissions. Its settings need an import and a line in settings.ts.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { widgetFiles } from './widget-files.ts'

const root = new URL('../../../../', import.meta.url).pathname
const copied = [
  '.prettierrc.json',
  'package.json',
  'tsconfig.json',
  'packages/gotemplate',
  // The generator also writes the documents of this package.
  'packages/client/package.json',
  'packages/client/src',
]
const copiedOfManager = ['package.json', 'conformance', 'migrations', 'src', 'test/kit', 'tools']
const appFile = 'packages/manager/src/app.ts'
const permissionsFile = 'packages/manager/src/policy/permissions.ts'
const settingsFile = 'packages/manager/src/settings.ts'
const line = '  widgets,'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(`${tmpdir()}/manager-feature-`)
  for (const path of [...copied, ...copiedOfManager.map((part) => `packages/manager/${part}`)])
    cpSync(root + path, `${dir}/${path}`, {
      recursive: true,
      filter: (from) => !from.endsWith('node_modules'),
    })
  symlinkSync(`${root}node_modules`, `${dir}/node_modules`)
  for (const [path, text] of Object.entries(widgetFiles)) {
    mkdirSync(dirname(`${dir}/${path}`), { recursive: true })
    writeFileSync(`${dir}/${path}`, text)
  }
  insert(appFile, '] as const', line)
  insert(appFile, 'import ', "import { widgets } from './features/widgets/index.ts'")
  insert(settingsFile, '])', '  widgetSettings,')
  insert(settingsFile, 'import ', "import { widgetSettings } from './features/widgets/widgets.settings.ts'")
  insert(permissionsFile, '} as const satisfies', "  WIDGET_USE: { project: 'developer' },")
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Inserts a line before the first line with this prefix. */
function insert(path: string, before: string, added: string): void {
  const lines = readFileSync(`${dir}/${path}`, 'utf8').split('\n')
  const at = lines.findIndex((text) => text.startsWith(before))
  writeFileSync(`${dir}/${path}`, lines.toSpliced(at, 0, added).join('\n'))
}

const run = (...command: string[]): string =>
  execFileSync(command[0] as string, command.slice(1), { cwd: dir, encoding: 'utf8' })
const compile = (): string => {
  try {
    return run(`${root}node_modules/.bin/tsc`, '--noEmit')
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

const timeout = 300_000

test(
  'a feature with a query, a mutation, a route, a setting, a metric, a schedule and a sealed column',
  { timeout },
  () => {
    run(process.execPath, 'packages/manager/tools/generate.ts')
    expect(compile()).toBe('')
    expect(JSON.parse(run(process.execPath, 'packages/manager/test/use-widgets.ts'))).toEqual({
      slug: true,
      refused: 'project not found',
      full: 'there may be at most 1 widgets',
      name: 'w',
      route: { widgets: 1 },
      metrics: ['svc_widgets_created_total 1', 'svc_widgets 1'],
      audited: [{ entity_type: 'widget', action: 'create' }],
      sealed: [1],
    })
    const generated = (path: string): string => readFileSync(`${dir}/${path}`, 'utf8')
    expect(generated('docs/reference/permissions/mutations.md')).toContain('| `createWidget` | WIDGET_USE |')
    expect(generated('docs/reference/configuration.md')).toContain('`SVC_WIDGETS_MAX`')
    expect(generated('docs/api/openapi.json')).toContain('/widgets/count')
  },
)

test('a setting that settings.ts does not list stops the start, and is named', { timeout }, () => {
  const listed = readFileSync(`${dir}/${settingsFile}`, 'utf8')
  writeFileSync(`${dir}/${settingsFile}`, listed.replace('  widgetSettings,\n', ''))
  const start = spawnSync(process.execPath, ['packages/manager/src/main.ts'], { cwd: dir, encoding: 'utf8' })
  writeFileSync(`${dir}/${settingsFile}`, listed)
  expect(start.stderr).toContain(
    'src/settings.ts does not list the setting maxWidgets of the feature widgets',
  )
})

test('a feature that stands above what it needs does not compile', { timeout }, () => {
  const app = readFileSync(`${dir}/${appFile}`, 'utf8')
  writeFileSync(`${dir}/${appFile}`, app.replace(`${line}\n`, '').replace('[\n', `[\n${line}\n`))
  expect(compile()).toContain('widgets depends on a feature that is listed below it in app.ts')
})
