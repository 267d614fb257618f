// Writes the report of an import: a file with the outcome of every row to which a rule applied.
import { type FileHandle, open, rename } from 'node:fs/promises'
import type { Step } from './steps.ts'

const maxBufferedLines = 200

/**
 * Creates a report with one JSON line per row to which a rule applied, followed by the summary. The file
 * appears under its name when it is complete.
 */
export async function createReport(path: string) {
  const partialPath = `${path}.part`
  const file: FileHandle = await open(partialPath, 'w', 0o600)
  let lines: string[] = []
  const flush = async (): Promise<void> => {
    await file.writeFile(lines.join(''))
    lines = []
  }
  return {
    add: async ({ view, oldId, outcome, newId, rules, detail }: Step): Promise<void> => {
      if (rules.length === 0) return
      // The report is a plain file, so it omits settings that only backends may read.
      const { backend_module_config: _secret, ...visibleDetail } = detail
      lines.push(`${JSON.stringify({ view, oldId, outcome, newId, rules, detail: visibleDetail })}\n`)
      if (lines.length >= maxBufferedLines) await flush()
    },
    close: async (summary: object): Promise<void> => {
      lines.push(`${JSON.stringify({ summary })}\n`)
      await flush()
      await file.sync()
      await file.close()
      await rename(partialPath, path)
    },
  }
}
