// Writes a small build of the console, so that server tests do not need a real build.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Writes the page and the assets to a new folder. Returns the folder, which the test removes. */
export function writeConsoleBuild(page: string, assets: Record<string, string | Buffer>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'console-build-'))
  mkdirSync(path.join(folder, 'assets'))
  writeFileSync(path.join(folder, 'index.html'), page)
  for (const [name, content] of Object.entries(assets))
    writeFileSync(path.join(folder, 'assets', name), content)
  return folder
}
