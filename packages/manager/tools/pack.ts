// The `prepack`, `postpack` and `prepublishOnly` scripts of the published packages. npm runs them in the package
// folder. In this repository, package.json refers to src/*.ts, which runs without a build. Node does not strip types in
// node_modules, so the tarball contains dist/ and a package.json that refers to dist/
// (docs/decisions/0054-packages-packed-by-npm.md).
import { execFileSync } from 'node:child_process'
import { constants, copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

type Manifest = {
  exports?: Record<string, string>
  bin?: Record<string, string>
} & Record<string, unknown>

/** git does not ignore this file. If npm fails before `postpack`, `git status` shows that the checkout was changed. */
const backupFile = 'package.json.source'

const mapValues = (entries: Record<string, string>, change: (path: string) => unknown): object =>
  Object.fromEntries(Object.entries(entries).map(([key, path]) => [key, change(path)]))

function getBuiltFile(source: string, extension: '.js' | '.d.ts'): string {
  const [, stem] = /^\.\/src\/(.+)\.ts$/.exec(source) ?? []
  if (stem === undefined) throw new Error(`package.json refers to ${source}, which is not a file in ./src/`)
  return `./dist/${stem}${extension}`
}

const getExportedFiles = (source: string): object => ({
  types: getBuiltFile(source, '.d.ts'),
  default: getBuiltFile(source, '.js'),
})

/** Returns the manifest for the tarball. Consumers need neither the scripts nor the development dependencies. */
function createPublishedManifest(manifest: Manifest): object {
  const { scripts: _, devDependencies: __, exports, bin, ...rest } = manifest
  return {
    ...rest,
    ...(exports !== undefined && { exports: mapValues(exports, getExportedFiles) }),
    ...(bin !== undefined && { bin: mapValues(bin, (source) => getBuiltFile(source, '.js')) }),
  }
}

/**
 * The build runs before the manifest is replaced, so that a concurrent process finds every file to which either
 * manifest refers.
 */
function prepack(): void {
  rmSync('dist', { recursive: true, force: true })
  execFileSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
  const manifestText = `${JSON.stringify(createPublishedManifest(manifest), null, 2)}\n`
  // An interrupted pack leaves its backup behind, which must not be overwritten.
  copyFileSync('package.json', backupFile, constants.COPYFILE_EXCL)
  writeFileSync(`${backupFile}.new`, manifestText)
  renameSync(`${backupFile}.new`, 'package.json')
}

const postpack = (): void => renameSync(backupFile, 'package.json')

/**
 * Rejects `npm publish`: npm sends the manifest of the folder to the registry after postpack has restored it, so the
 * registry would list src/.
 */
function refusePublish(): void {
  process.stderr.write('Cannot publish a folder. Run `npm pack`, then `npm publish` with the tarball.\n')
  process.exitCode = 1
}

const commands: Record<string, () => void> = { prepack, postpack, prepublishOnly: refusePublish }
const { positionals } = parseArgs({ allowPositionals: true })
const command = commands[positionals[0] ?? '']
if (command === undefined) throw new Error(`usage: pack.ts ${Object.keys(commands).join('|')}`)
command()
