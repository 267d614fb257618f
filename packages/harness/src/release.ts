// The source tree of a former release, from git, with the packages it needs.
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

export type Release = {
  /** As git names it. */
  name: string
  /** The programs of the service and of the operator. */
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
 * The previous release: the newest tag before HEAD, in a clone without tags the newest commit `chore(release): v…`, and
 * before the first release the parent of the commit that added the newest migration.
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

/** False in a checkout without history, such as an archive. */
export function hasFormerRelease(): boolean {
  try {
    return commitOf(defaultRef()) !== ''
  } catch {
    return false
  }
}
const commitOf = (ref: string): string => git('rev-parse', '--verify', `${ref}^{commit}`)

/** Checks it out into the folder, and makes its packages available there. */
export function checkOut(ref: string, folder: string, say: (text: string) => void): Release {
  const commit = commitOf(ref)
  git('worktree', 'add', '--detach', folder, commit)
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true })
    git('worktree', 'prune')
  }
  try {
    if (lock(folder) === lock(root)) linkPackages(folder)
    else {
      say('its packages differ: installing them')
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

/** Links to what is installed here, except that packages of the workspace are those of the release. */
function linkPackages(folder: string): void {
  for (const place of ['', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]) {
    const from = join(root, place, 'node_modules')
    if (existsSync(from) && existsSync(join(folder, place)))
      linkAll(from, join(folder, place, 'node_modules'))
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
