// Reports texts of the console that no source uses. The compiler reports keys that a language lacks, because each
// language has the type of the English texts.
//   node packages/console/tools/texts.ts [source folder]
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { en } from '../src/texts/en.ts'
import { provisioning } from '../src/texts/provisioning.en.ts'

/** Returns the start of a template that computes keys. */
const getStart = (key: string): string => `\`${key.slice(0, key.lastIndexOf('.') + 1)}\${`

/**
 * Returns the keys that no source outside of `texts/` uses, neither as a literal nor through a template such as
 * `members.role.${role}`. The compiler checks that all keys of such a template exist.
 */
export function findUnusedKeys(folder: string, keys: readonly string[]): string[] {
  const sources = globSync('**/*.{ts,tsx}', { cwd: folder })
    .filter((file) => !file.startsWith('texts/'))
    .map((file) => readFileSync(resolve(folder, file), 'utf8'))
  const usedKeys = new Set(
    sources.flatMap((text) => text.match(/'[a-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+'/g) ?? []),
  )
  const starts = new Set(sources.flatMap((text) => text.match(/`[a-z][A-Za-z0-9.-]*\.\$\{/g) ?? []))
  return keys.filter((key) => !usedKeys.has(`'${key}'`) && !starts.has(getStart(key)))
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? new URL('../src', import.meta.url).pathname)
  const unused = findUnusedKeys(folder, Object.keys({ ...en, ...provisioning }))
  for (const key of unused) process.stderr.write(`no source uses the text ${key}; remove it from src/texts\n`)
  if (unused.length > 0) process.exitCode = 1
}
