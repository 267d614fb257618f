// `npm run dist -- PACKAGE DIRECTORY`: a package as it is published. Node does not strip the types of packages in
// node_modules, so they are stripped here, by Node itself; nothing is compiled or bundled. Declarations come from the compiler.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'

type Manifest = {
  name: string
  exports?: Record<string, string>
  bin?: Record<string, string>
} & Record<string, unknown>

const root = new URL('../../../', import.meta.url).pathname
const language = ['--target', 'es2024', '--module', 'nodenext', '--strict', '--allowImportingTsExtensions']

/** Imports name the files as they are called here: .js instead of .ts. */
const renamed = (source: string): string =>
  source.replaceAll(/((?:from|import) ?\(?["'](?:\.\.?\/)+[\w/-]+)\.ts(?=["'])/g, '$1.js')

/** The name of a source file in the published package, without its ending. */
const stemOf = (path: string): string => path.replace(/^(?:\.\/)?src\//, '').replace(/\.ts$/, '')

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Every source file without its types; one that holds types alone is not needed. */
function writeScripts(from: string, target: string): void {
  for (const file of globSync('src/**/*.ts', { cwd: from })) {
    const source = renamed(stripTypeScriptTypes(readFileSync(`${from}/${file}`, 'utf8')))
    const isEmpty = source.replaceAll(/^\s*\/\/.*$/gm, '').trim() === ''
    if (!isEmpty) writeFile(`${target}/${stemOf(file)}.js`, source)
  }
}

function writeDeclarations(from: string, target: string, entries: readonly string[]): void {
  const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false']
  const places = ['--rootDir', `${from}/src`, '--outDir', target]
  const files = entries.map((entry) => `${from}/${entry}`)
  execFileSync(
    process.execPath,
    [
      `${root}node_modules/typescript/bin/tsc`,
      '--ignoreConfig',
      ...options,
      ...places,
      ...language,
      '--types',
      'node',
      ...files,
    ],
    { cwd: root, stdio: 'inherit' },
  )
  for (const file of globSync('**/*.d.ts', { cwd: target }))
    writeFileSync(`${target}/${file}`, renamed(readFileSync(`${target}/${file}`, 'utf8')))
}

const entryOf = (path: string): object => ({
  types: `./${stemOf(path)}.d.ts`,
  default: `./${stemOf(path)}.js`,
})

const mapValues = (all: Record<string, string>, change: (path: string) => unknown): object =>
  Object.fromEntries(Object.entries(all).map(([key, path]) => [key, change(path)]))

/** What others install: the same manifest, about the files that are there. */
function published(manifest: Manifest): object {
  const { scripts: _, devDependencies: __, files: ___, exports, bin, ...rest } = manifest
  return {
    ...rest,
    ...(exports === undefined ? {} : { exports: mapValues(exports, entryOf) }),
    ...(bin === undefined ? {} : { bin: mapValues(bin, (path) => `./${stemOf(path)}.js`) }),
  }
}

/** Refuses a folder that holds anything but a former package of this name. */
function assertOwn(target: string, { name }: Manifest): void {
  if (!existsSync(target) || readdirSync(target).length === 0) return
  const found = existsSync(`${target}/package.json`)
    ? (JSON.parse(readFileSync(`${target}/package.json`, 'utf8')) as Manifest & { scripts?: object })
    : null
  // Sources have scripts, and a published package has none.
  if (found?.name !== name || found.scripts !== undefined)
    throw new Error(`${target} is not empty, and is not a former package ${name}; name another folder`)
}

/** Writes the package into a folder of its own. */
function writePackage(folder: string, target: string): void {
  const from = `${root}packages/${folder}`
  const manifest = JSON.parse(readFileSync(`${from}/package.json`, 'utf8')) as Manifest
  assertOwn(target, manifest)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  writeScripts(from, target)
  if (manifest.exports !== undefined) writeDeclarations(from, target, Object.values(manifest.exports))
  writeFile(`${target}/package.json`, `${JSON.stringify(published(manifest), null, 2)}\n`)
  copyFileSync(`${from}/README.md`, `${target}/README.md`)
  copyFileSync(`${root}LICENSE`, `${target}/LICENSE`)
}

const { positionals } = parseArgs({ allowPositionals: true })
const [name = '', target = ''] = positionals
if (!/^[a-z]+$/.test(name) || target === '') {
  process.stderr.write(
    'usage: npm run dist -- PACKAGE DIRECTORY, such as: npm run dist -- client /tmp/client\n',
  )
  process.exitCode = 2
} else writePackage(name, target)
