// Builds the console for tests and for `npm run dev`, if the build is missing or older than the sources.
import { execFile } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { promisify } from 'node:util'

const root = new URL('../../../', import.meta.url).pathname
const folder = `${root}packages/console`
/** The folder that the Manager serves. */
export const consoleBuild = `${folder}/dist`

const sources = [
  'package-lock.json',
  'packages/console/{index.html,package.json,vite.config.ts}',
  // A removed file makes its folder newer than the build.
  'packages/{client,console}/src/**',
]

/**
 * Builds the console if necessary, and returns the folder of the build. `onBuild` is called before a build, which takes
 * about 2 s. Concurrent calls are safe: each builds in its own folder, and the last one replaces the others.
 */
export async function ensureConsoleBuild({
  onBuild,
  signal,
}: { onBuild?: () => void; signal?: AbortSignal } = {}): Promise<string> {
  if (isCurrent()) return consoleBuild
  onBuild?.()
  // Git ignores node_modules. The folder must be on the same file system as the build, because it is renamed.
  mkdirSync(`${folder}/node_modules`, { recursive: true })
  const newFolder = mkdtempSync(`${folder}/node_modules/.build-`)
  const startedAt = new Date()
  try {
    const args = ['run', 'build', '-w', 'packages/console', '--', '--outDir', newFolder]
    // Vitest sets NODE_ENV, which would make Vite build the development version of the libraries.
    const env = { ...process.env, NODE_ENV: 'production' }
    await promisify(execFile)('npm', args, { cwd: root, env, signal }).catch(throwBuildError)
    // If a source changes during the build, it must be newer than the build.
    utimesSync(`${newFolder}/index.html`, startedAt, startedAt)
    replaceBuild(newFolder)
  } finally {
    rmSync(newFolder, { recursive: true, force: true })
  }
  return consoleBuild
}

function isCurrent(): boolean {
  const page = `${consoleBuild}/index.html`
  if (!existsSync(page)) return false
  const builtAtMs = statSync(page).mtimeMs
  return globSync(sources, { cwd: root }).every((file) => statSync(`${root}${file}`).mtimeMs <= builtAtMs)
}

function throwBuildError(error: unknown): never {
  const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
  throw new Error(`npm run build -w packages/console failed:\n${stdout}${stderr}`, { cause: error })
}

/** Replaces the build, so that no process reads a partial build. */
function replaceBuild(newFolder: string): void {
  const oldFolder = `${newFolder}-old`
  try {
    if (existsSync(consoleBuild)) renameSync(consoleBuild, oldFolder)
    renameSync(newFolder, consoleBuild)
  } catch (error) {
    // Another process replaced the build at the same time.
    if (!['ENOENT', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(oldFolder, { recursive: true, force: true })
  }
}
