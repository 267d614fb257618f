// Builds the console if necessary, prints how much a browser loads, and fails if a part exceeds its limit. Sizes are
// in kB (1,000 bytes) after gzip.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { ensureConsoleBuild } from '@manager/harness/console-build.ts'

type Chunk = {
  file: string
  name?: string
  isEntry?: true
  isDynamicEntry?: true
  imports?: string[]
  css?: string[]
}
type Manifest = Record<string, Chunk>
type Part = { name: string; files: string[]; limitKb: number }

const limitsKb = { firstLoad: 200, page: 30, editor: 100, shared: 60 }

/** Returns the files that the browser loads for a chunk, including its static imports. */
function collectFiles(manifest: Manifest, key: string, found = new Set<string>()): Set<string> {
  const { file, css = [], imports = [] } = manifest[key] as Chunk
  if (found.has(file)) return found
  for (const one of [file, ...css]) found.add(one)
  for (const imported of imports) collectFiles(manifest, imported, found)
  return found
}

/**
 * Returns the parts that have a limit: the first load in each language, each part that is loaded on demand, and chunks
 * that several of these parts share. Apart from the first load, each file is counted once.
 */
export function listParts(manifest: Manifest): Part[] {
  const chunks = Object.entries(manifest)
  const entries = chunks.filter(([, { isEntry }]) => isEntry === true)
  const firstLoad = new Set(entries.flatMap(([key]) => [...collectFiles(manifest, key)]))
  const onDemand = chunks.filter(([, { file }]) => file.endsWith('.js') && !firstLoad.has(file))
  const [languages, others] = [true, false].map((isLanguage) =>
    onDemand.filter(([key]) => key.startsWith('src/texts/') === isLanguage),
  ) as [typeof chunks, typeof chunks]
  return [
    ...languages.map(([, { file, name }]) => ({
      name: `first load (${name})`,
      files: [...firstLoad, file],
      limitKb: limitsKb.firstLoad,
    })),
    ...others.map(([key, { file, name = key, css = [], isDynamicEntry = false }]) => ({
      name: isDynamicEntry ? name : `${name} (shared)`,
      files: [file, ...css.filter((style) => !firstLoad.has(style))],
      limitKb: isDynamicEntry ? getLimit(name) : limitsKb.shared,
    })),
  ]
}

const getLimit = (name: string): number => (name.includes('code-editor') ? limitsKb.editor : limitsKb.page)

/** Prints a table of the parts, the largest first. Returns the names of the parts that exceed their limit. */
function checkSizes(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(`${folder}/.vite/manifest.json`, 'utf8')) as Manifest
  const measureKb = (file: string): number => gzipSync(readFileSync(`${folder}/${file}`)).length / 1_000
  const parts = listParts(manifest)
    .map((part) => ({ ...part, kb: part.files.reduce((sum, file) => sum + measureKb(file), 0) }))
    .toSorted((a, b) => b.kb - a.kb)
  for (const { name, kb, limitKb } of parts)
    process.stdout.write(`${name.padEnd(32)}${kb.toFixed(1).padStart(8)} of ${limitKb} kB\n`)
  return parts.filter(({ kb, limitKb }) => kb > limitKb).map(({ name }) => name)
}

if (import.meta.main) {
  const tooLarge = checkSizes(await ensureConsoleBuild())
  if (tooLarge.length > 0) {
    process.stderr.write(
      `too large: ${tooLarge.join(', ')}; load code on demand, or remove a dependency (packages/console)\n`,
    )
    process.exitCode = 1
  }
}
