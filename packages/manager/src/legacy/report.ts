// The report of an import: a file with what was done with every row that a rule decided about, and a table for people.
import { type FileHandle, open, rename } from 'node:fs/promises'
import type { Step } from './steps.ts'
import type { Summary } from './tally.ts'
import { table } from '../commands/table.ts'

const bufferedLines = 200

/** Lines of JSON, one per row that a rule decided about, then the summary. It appears when it is whole. */
export async function createReport(path: string) {
  const unfinished = `${path}.part`
  const file: FileHandle = await open(unfinished, 'w', 0o600)
  let lines: string[] = []
  const flush = async (): Promise<void> => {
    await file.writeFile(lines.join(''))
    lines = []
  }
  return {
    add: async ({ view, oldId, outcome, newId, rules, detail }: Step): Promise<void> => {
      if (rules.length === 0) return
      // What only backends should know stays in the databases.
      const { backend_module_config: _secret, ...shown } = detail
      lines.push(`${JSON.stringify({ view, oldId, outcome, newId, rules, detail: shown })}\n`)
      if (lines.length >= bufferedLines) await flush()
    },
    close: async (summary: object): Promise<void> => {
      lines.push(`${JSON.stringify({ summary })}\n`)
      await flush()
      await file.sync()
      await file.close()
      await rename(unfinished, path)
    },
  }
}

/** The summary as people read it. */
export function summaryLines({ views, rules }: Summary): string[] {
  const total = { view: 'all', read: 0, moved: 0, merged: 0, kept_aside: 0 }
  for (const counts of views)
    for (const field of ['read', 'moved', 'merged', 'kept_aside'] as const) total[field] += counts[field]
  const numbers = [...views, total].map((counts) => [
    counts.view,
    ...[counts.read, counts.moved, counts.merged, counts.kept_aside].map(String),
  ])
  const decided = rules.map(({ rule, rows, meaning, examples }) => [
    rule,
    String(rows),
    examples[0] ?? '',
    meaning,
  ])
  return [
    ...table(['VIEW', 'READ', 'MOVED', 'MERGED', 'KEPT ASIDE'], numbers),
    ...(decided.length === 0 ? [] : ['', ...table(['RULE', 'ROWS', 'FOR EXAMPLE', 'MEANING'], decided)]),
  ]
}
