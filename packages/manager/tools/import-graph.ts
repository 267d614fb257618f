// Builds the import graph of the workspace, including type imports and dynamic imports. It reads files but does not run
// them.
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { Visitor, parseSync } from 'oxc-parser'

/**
 * Paths are relative to the workspace root. `usesPackageName` is true if the import names a package instead of a path.
 */
export type Import = { from: string; to: string; usesPackageName: boolean }

type Manifest = { name: string; exports?: Record<string, string> }
/** Maps the name that imports use to the folder and the exports of the package. */
type Packages = Map<string, { folder: string; exports: Record<string, string> }>

const codeFiles = '{packages/*,examples}/**/*.{ts,mjs}'

/** Returns the imports between files of the workspace, and the imported names that no manifest exports. */
export function readImports(root: string): { imports: Import[]; unexportedNames: string[] } {
  const packages = readPackages(root)
  const files = globSync(codeFiles, { cwd: root, exclude: (name) => name.includes('node_modules') })
  const knownFiles = new Set(files)
  const imports: Import[] = []
  const unexportedNames: string[] = []
  for (const from of files.toSorted())
    for (const specifier of readSpecifiers(from, readFileSync(posix.join(root, from), 'utf8'))) {
      const isRelative = specifier.startsWith('.')
      const to = isRelative ? posix.join(posix.dirname(from), specifier) : resolveName(packages, specifier)
      if (to === null) unexportedNames.push(`${from} imports ${specifier}, which its package does not export`)
      else if (to !== undefined && knownFiles.has(to))
        imports.push({ from, to, usesPackageName: !isRelative })
    }
  return { imports, unexportedNames }
}

function readPackages(root: string): Packages {
  return new Map(
    globSync('packages/*/package.json', { cwd: root }).map((file) => {
      const { name, exports = {} } = JSON.parse(readFileSync(posix.join(root, file), 'utf8')) as Manifest
      return [name, { folder: posix.dirname(file), exports }]
    }),
  )
}

/**
 * Returns the file that a package exports under this name, null if it exports none, or undefined if the package is not
 * in the workspace.
 */
function resolveName(packages: Packages, specifier: string): string | null | undefined {
  for (const [name, { folder, exports }] of packages) {
    if (specifier !== name && !specifier.startsWith(`${name}/`)) continue
    const exportKey = `.${specifier.slice(name.length)}`
    for (const [key, target] of Object.entries(exports)) {
      const [before = '', after] = key.split('*')
      const isMatch =
        after === undefined ? key === exportKey : exportKey.startsWith(before) && exportKey.endsWith(after)
      if (!isMatch) continue
      const wildcard =
        after === undefined ? '' : exportKey.slice(before.length, exportKey.length - after.length)
      return posix.join(folder, target.replace('*', wildcard))
    }
    return null
  }
  return undefined
}

/** Returns the module specifiers of all imports, exports, dynamic imports and import types in a file. */
function readSpecifiers(file: string, text: string): string[] {
  const { module, program } = parseSync(file, text)
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : [moduleRequest.value])),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const [, literal] = /^'([^']+)'$/.exec(text.slice(start, end)) ?? []
      return literal === undefined ? [] : [literal]
    }),
  ]
  if (/\bimport\('[^']+'\)\./.test(text))
    new Visitor({
      TSImportType: ({ source }) => void specifiers.push(source.value),
    }).visit(program)
  return [...new Set(specifiers)]
}
