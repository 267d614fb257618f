// The report of an import: a file with the outcome of every row that a rule decided about.
import { type FileHandle, open, rename } from 'node:fs/promises'
import type { Step } from './steps.ts'

const bufferedLines = 200

/** Writes one JSON line per row that a rule decided about, then the summary. The file appears when it is complete. */
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
      // Settings that only backends may read stay in the databases.
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
