import { printable } from './printable.ts'
import type { Output } from './world.ts'

export type Progress = { show: (sentBytes: number, totalBytes: number) => void; end: () => void }

const width = 30
const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1)

/** A bar on a terminal, drawn over itself; null where there is no terminal. The title may be a text of others. */
export function createProgress(output: Output, title: string): Progress | null {
  if (output.isTTY !== true) return null
  const shownTitle = printable(title)
  let drawn = -1
  return {
    show: (sentBytes, totalBytes) => {
      const percent = totalBytes === 0 ? 100 : Math.floor((100 * sentBytes) / totalBytes)
      // A terminal is slower than a loop.
      if (percent === drawn) return
      drawn = percent
      const filled = Math.round((width * percent) / 100)
      const bar = '#'.repeat(filled) + '.'.repeat(width - filled)
      output.write(`\r${shownTitle} [${bar}] ${String(percent).padStart(3)} % of ${megabytes(totalBytes)} MB`)
    },
    end: () => {
      if (drawn >= 0) output.write('\n')
    },
  }
}
