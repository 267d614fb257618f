import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const root = new URL('../../../../', import.meta.url).pathname
const shared = ['.npmrc', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'packages/manager/tools']
const unpacked = new Set(['dist', 'node_modules', 'test'])

/**
 * Runs `npm pack` for workspace packages and returns the paths of the tarballs. It packs a copy, because the pack
 * scripts write dist/ and replace package.json, which concurrent tests read.
 */
export async function packWorkspaces(names: readonly string[], destination: string): Promise<string[]> {
  const copy = mkdtempSync(join(tmpdir(), 'pack-workspaces-'))
  try {
    for (const path of [...shared, ...names.map((name) => `packages/${name}`)])
      cpSync(root + path, join(copy, path), {
        recursive: true,
        filter: (from) => !unpacked.has(basename(from)),
      })
    symlinkSync(`${root}node_modules`, join(copy, 'node_modules'))
    const pack = async (name: string): Promise<string> => {
      const options = ['--offline', '--json', '--pack-destination', destination]
      const { stdout } = await promisify(execFile)('npm', ['pack', '-w', `packages/${name}`, ...options], {
        cwd: copy,
      })
      const [packed] = JSON.parse(stdout) as { filename: string }[]
      return join(destination, packed?.filename ?? '')
    }
    return await Promise.all(names.map(pack))
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
