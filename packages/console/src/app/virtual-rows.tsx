// Tables with many rows of the same height. Only the visible rows are in the document.
import { type ReactNode, useEffect, useState } from 'react'
import type { Cell } from './grid-keys.ts'

/** Number of rows to render above and below the visible ones. */
const spareRows = 6
const initialHeight = 640

export type VisibleRows = { readonly first: number; readonly last: number }

/** Returns the range of rows to render. The frame scrolls the table. */
export function useVisibleRows(frame: HTMLElement | null, count: number, rowHeight: number): VisibleRows {
  const [view, setView] = useState({ top: 0, height: initialHeight })
  useEffect(() => {
    if (frame === null) return undefined
    const update = (): void => setView({ top: frame.scrollTop, height: frame.clientHeight })
    const observer = new ResizeObserver(update)
    observer.observe(frame)
    frame.addEventListener('scroll', update, { passive: true })
    return () => {
      observer.disconnect()
      frame.removeEventListener('scroll', update)
    }
  }, [frame])
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + spareRows)
  // A filter can shorten the table before the browser scrolls back.
  const first = Math.max(0, Math.min(Math.floor(view.top / rowHeight) - spareRows, last))
  return { first, last }
}

export type GridSizes = {
  readonly rowHeight: number
  readonly headHeight: number
  readonly nameWidth: number
  readonly cellWidth: number
}

/** Scrolls until the cell is visible and neither the header nor the first column hides it. */
export function revealCell(frame: HTMLElement, { row, column }: Cell, sizes: GridSizes): void {
  const top = row * sizes.rowHeight
  const left = column * sizes.cellWidth
  const height = frame.clientHeight - sizes.headHeight
  const width = frame.clientWidth - sizes.nameWidth
  if (top < frame.scrollTop) frame.scrollTop = top
  if (top + sizes.rowHeight > frame.scrollTop + height) frame.scrollTop = top + sizes.rowHeight - height
  if (left < frame.scrollLeft) frame.scrollLeft = left
  if (left + sizes.cellWidth > frame.scrollLeft + width) frame.scrollLeft = left + sizes.cellWidth - width
}

/** Fills the space of rows that are not in the document. */
export const RowSpacer = ({ height, columns }: { height: number; columns: number }): ReactNode =>
  height <= 0 ? null : (
    <tr aria-hidden="true" style={{ height }}>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the cell is empty and hidden */}
      <td colSpan={columns} />
    </tr>
  )
