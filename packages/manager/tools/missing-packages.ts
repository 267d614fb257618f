// Prints the packages of the lock file that this platform needs and that are not installed, one per line. npm leaves out
// an optional package whose download failed, and reports no error.
import { existsSync, readFileSync } from 'node:fs'

type Packages = Readonly<Record<string, string>>
type LockedPackage = {
  os?: readonly string[]
  cpu?: readonly string[]
  libc?: readonly string[]
  dependencies?: Packages
  devDependencies?: Packages
  optionalDependencies?: Packages
  peerDependencies?: Packages
}

const root = new URL('../../../', import.meta.url)
const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>
}
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
const libcName = header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'

const isListed = (names: readonly string[] | undefined, name: string): boolean =>
  names === undefined || names.includes(name)

/** Returns whether the package is made for this platform. */
function fits({ os, cpu, libc }: LockedPackage): boolean {
  const hasLibc = process.platform !== 'linux' || isListed(libc, libcName)
  return isListed(os, process.platform) && isListed(cpu, process.arch) && hasLibc
}

/** Finds a dependency as Node does: in the folder of the package, then in the folders above it. */
function findDependency(path: string, name: string): string | undefined {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const candidate = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages[candidate] !== undefined) return candidate
    if (folder === '') return undefined
  }
}

const neededPaths = new Set(Object.keys(packages).filter((path) => !path.includes('node_modules/')))
for (const path of neededPaths) {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = packages[path] ?? {}
  // Development packages are installed for the workspaces only.
  const ownDependencies = path.includes('node_modules/') ? {} : devDependencies
  const names = { ...dependencies, ...ownDependencies, ...optionalDependencies, ...peerDependencies }
  for (const name of Object.keys(names)) {
    const dependency = findDependency(path, name)
    if (dependency !== undefined && fits(packages[dependency] ?? {})) neededPaths.add(dependency)
  }
}
for (const path of neededPaths) if (!existsSync(new URL(path, root))) process.stdout.write(`${path}\n`)
