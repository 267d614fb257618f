// Checks out the source tree of a previous release from git, together with the packages that it needs.
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

export type Release = {
  /** The name from `git describe`. */
  name: string
  /** Entry points of the service and of the `manager` command. */
  main: string
  manager: string
  remove(): void
}

const root = new URL('../../../', import.meta.url).pathname
const gitIn = (cwd: string, args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
const git = (...args: string[]): string => gitIn(root, args)

const lock = (dir: string): string => readFileSync(join(dir, 'package-lock.json'), 'utf8')

/**
 * Returns the git ref of the previous release: the newest tag before HEAD or, in a clone without tags, the newest
 * commit `chore(release): v…`. Before the first release, it is the parent of the commit that added the newest
 * migration.
 */
export function defaultRef(checkout = root): string {
  const tag = gitIn(checkout, [
    'tag',
    '--list',
    'v[0-9]*',
    '--merged',
    'HEAD~1',
    '--sort=-creatordate',
  ]).split('\n')[0]
  if (tag !== undefined && tag !== '') return tag
  const newest = ['log', '-1', '--format=%H']
  const released = gitIn(checkout, [...newest, '-E', '--grep=^chore\\(release\\): v[0-9]', 'HEAD~1'])
  if (released !== '') return released
  const migrated = gitIn(checkout, [...newest, '--', 'packages/manager/migrations'])
  return migrated === '' ? 'HEAD~1' : `${migrated}~1`
}

/** Returns false in a checkout without history, such as an archive. */
export function hasPreviousRelease(): boolean {
  try {
    return commitOf(defaultRef()) !== ''
  } catch {
    return false
  }
}
const commitOf = (ref: string): string => git('rev-parse', '--verify', `${ref}^{commit}`)

/** Checks out the release into the folder and links or installs its packages there. */
export function checkOut(ref: string, folder: string, log: (text: string) => void): Release {
  const commit = commitOf(ref)
  git('worktree', 'add', '--detach', folder, commit)
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true })
    git('worktree', 'prune')
  }
  try {
    if (lock(folder) === lock(root)) linkPackages(folder)
    else {
      log('dependencies differ from this checkout: installing them')
      const args = ['install', '--no-save', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
      execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
    }
  } catch (error) {
    remove()
    throw error
  }
  const src = join(folder, 'packages/manager/src')
  const name = git('describe', '--tags', '--always', commit)
  return { name, main: join(src, 'main.ts'), manager: join(src, 'commands/manager.ts'), remove }
}

/** Links the packages that are installed here. Workspace packages are taken from the release instead. */
function linkPackages(folder: string): void {
  for (const folderName of ['', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]) {
    const from = join(root, folderName, 'node_modules')
    if (existsSync(from) && existsSync(join(folder, folderName)))
      linkAll(from, join(folder, folderName, 'node_modules'))
  }
  rmSync(join(folder, 'node_modules/gotemplate'), { force: true })
  symlinkSync(join(folder, 'packages/gotemplate'), join(folder, 'node_modules/gotemplate'))
}

function linkAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from)) {
    if (entry.startsWith('.') || entry === '@manager') continue
    const path = join(from, entry)
    if (entry.startsWith('@') && lstatSync(path).isDirectory()) linkAll(path, join(to, entry))
    else symlinkSync(path, join(to, entry))
  }
}
