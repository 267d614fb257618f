// `npm run dist -w gotemplate -- DIRECTORY`: the package as it is published. Node does not strip the types of packages in
// node_modules, so they are stripped here, by Node itself; nothing is compiled or bundled. Declarations come from the compiler.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { parseArgs } from 'node:util'

const root = new URL('..', import.meta.url).pathname
const { positionals } = parseArgs({ allowPositionals: true })
const target = positionals[0] ?? `${root}dist`

/** Imports name the files as they are called here: .js instead of .ts. */
const renamed = (source: string, ending: string): string =>
  source.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, `$1${ending}'`)

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const file of readdirSync(`${root}src`)) {
  const source = readFileSync(`${root}src/${file}`, 'utf8')
  writeFileSync(`${target}/${file.replace(/\.ts$/, '.js')}`, renamed(stripTypeScriptTypes(source), '.js'))
}
const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', target]
const language = ['--target', 'es2024', '--module', 'nodenext', '--strict', '--allowImportingTsExtensions']
execFileSync(
  'npx',
  ['tsc', '--ignoreConfig', ...options, ...language, '--types', 'node', `${root}src/index.ts`],
  {
    cwd: `${root}../..`,
    stdio: 'inherit',
  },
)
for (const file of readdirSync(target).filter((name) => name.endsWith('.d.ts')))
  writeFileSync(`${target}/${file}`, renamed(readFileSync(`${target}/${file}`, 'utf8'), '.js'))
const {
  scripts: _,
  devDependencies: __,
  files: ___,
  ...fields
} = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Record<string, unknown>
const exports = { '.': { types: './index.d.ts', default: './index.js' } }
writeFileSync(`${target}/package.json`, `${JSON.stringify({ ...fields, exports }, null, 2)}\n`)
copyFileSync(`${root}README.md`, `${target}/README.md`)
copyFileSync(`${root}../../LICENSE`, `${target}/LICENSE`)
