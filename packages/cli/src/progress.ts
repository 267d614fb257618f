import { escapeControlCharacters } from './printable.ts'
import type { Output } from './terminal.ts'

export type Progress = { show: (sentBytes: number, totalBytes: number) => void; end: () => void }

const width = 30
const formatMegabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1)

/**
 * Returns a progress bar that redraws one line, or null if the output is not a terminal. The title may be
 * untrusted text.
 */
export function createProgress(output: Output, title: string): Progress | null {
  if (output.isTTY !== true) return null
  const safeTitle = escapeControlCharacters(title)
  let drawnPercent = -1
  return {
    show: (sentBytes, totalBytes) => {
      const percent = totalBytes === 0 ? 100 : Math.floor((100 * sentBytes) / totalBytes)
      // A terminal is slower than the upload, so redraw only when the percentage changes.
      if (percent === drawnPercent) return
      drawnPercent = percent
      const filledWidth = Math.round((width * percent) / 100)
      const bar = '#'.repeat(filledWidth) + '.'.repeat(width - filledWidth)
      output.write(
        `\r${safeTitle} [${bar}] ${String(percent).padStart(3)} % of ${formatMegabytes(totalBytes)} MB`,
      )
    },
    end: () => {
      if (drawnPercent >= 0) output.write('\n')
    },
  }
}
