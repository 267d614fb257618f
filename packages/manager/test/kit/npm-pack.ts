import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Returns the tarball that `npm pack` creates from these files. `manifest` is merged into package.json. */
export function npmPack(
  manifest: { name?: string; version?: string; main?: string; module?: string },
  files: Record<string, string>,
): Buffer {
  const folder = mkdtempSync(path.join(tmpdir(), 'npm-pack-'))
  try {
    const written = { 'package.json': JSON.stringify({ name: 'p', version: '1.0.0', ...manifest }), ...files }
    for (const [name, text] of Object.entries(written)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
      writeFileSync(path.join(folder, name), text)
    }
    const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const
    const [packed] = JSON.parse(execFileSync('npm', ['pack', '--offline', '--json'], options)) as {
      filename: string
    }[]
    return readFileSync(path.join(folder, packed?.filename ?? ''))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
