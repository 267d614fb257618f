import { printable } from './printable.ts'
import type { Output } from './terminal.ts'

export type Progress = { show: (sentBytes: number, totalBytes: number) => void; end: () => void }

const width = 30
const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1)

/** Returns a progress bar that redraws its line, or null without a terminal. The title may be untrusted text. */
export function createProgress(output: Output, title: string): Progress | null {
  if (output.isTTY !== true) return null
  const shownTitle = printable(title)
  let drawn = -1
  return {
    show: (sentBytes, totalBytes) => {
      const percent = totalBytes === 0 ? 100 : Math.floor((100 * sentBytes) / totalBytes)
      // A terminal is slower than the upload loop, so redraw only when the percentage changes.
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
