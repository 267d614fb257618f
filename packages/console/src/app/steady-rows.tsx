// Lists that change while a person reads them. New rows wait behind a button, so that the row under the pointer or with
// the focus never moves.
import './steady-rows.css'
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../kit/button.tsx'
import { useText } from '../texts/language.tsx'
import { type MergedRows, mergeRows, showAll } from './merge-rows.ts'

type SteadyOptions = {
  /** Identifies the list: its filters, order and page. If it changes, the rows are replaced. */
  key: string
  /** True while the rows are still those of the previous key. */
  isPlaceholder?: boolean
  /** True if the rows reach the end of the list, so that a missing row was removed. */
  isWhole?: boolean
}

export type SteadyRows<Row> = MergedRows<Row> & {
  readonly region: RefObject<HTMLDivElement | null>
  /** Shows the newest result. */
  readonly show: () => void
}

const findScrolled = (region: HTMLElement): Element => region.querySelector('.table') ?? region

/** Returns whether the person reads the list: the pointer, the focus or selected text is in it, or it is scrolled. */
function isRead(region: HTMLElement | null): boolean {
  if (region === null) return false
  const selection = getSelection()
  const hasSelection = selection?.isCollapsed === false && region.contains(selection.anchorNode)
  return (
    hasSelection ||
    region.matches(':hover') ||
    region.contains(document.activeElement) ||
    findScrolled(region).scrollTop > 0
  )
}

/**
 * Returns the rows to show. While the person reads them, changed rows change in place, removed rows stay, and new rows
 * wait until `show` is called. `rows` must be the same array until the result changes.
 */
export function useSteadyRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { key, isPlaceholder = false, isWhole = false }: SteadyOptions,
): SteadyRows<Row> {
  const region = useRef<HTMLDivElement>(null)
  const [state, setState] = useState(() => ({ key, newest: rows, merged: showAll(rows) }))
  // Before the browser paints, so that the previous rows of another list are never visible.
  useLayoutEffect(() => {
    if (isPlaceholder) return
    setState((previous) => {
      if (previous.key === key && previous.newest === rows) return previous
      const canMove = previous.key !== key || !isRead(region.current)
      return {
        key,
        newest: rows,
        merged: canMove ? showAll(rows) : mergeRows(previous.merged, { rows, isWhole }),
      }
    })
  }, [rows, key, isPlaceholder, isWhole])
  const show = (): void => {
    setState((previous) => ({ ...previous, merged: showAll(previous.newest) }))
    const element = region.current
    if (element === null) return
    findScrolled(element).scrollTop = 0
    // The pressed button disappears. Keyboard users continue in the list.
    if (element.querySelector('.steady-news :focus-visible') !== null) element.focus({ preventScroll: true })
  }
  return { ...state.merged, region, show }
}

type RegionProps = { steady: SteadyRows<unknown>; children: ReactNode }

/** The area of a list from `useSteadyRows`, with the button that shows the rows that wait. */
export function SteadyRegion({ steady, children }: RegionProps): ReactNode {
  const t = useText()
  const { region, newCount, isNewCountExact, gone, show } = steady
  return (
    <div className="steady-rows" ref={region} tabIndex={-1}>
      <div className="steady-news" aria-live="polite">
        {(newCount > 0 || gone.size > 0) && (
          <Button size="small" variant="primary" icon={newCount > 0 ? 'chevronUp' : 'refresh'} onPress={show}>
            {newCount > 0 ? t('app.newRows', newCount, isNewCountExact) : t('app.goneRows', gone.size)}
          </Button>
        )}
      </div>
      {children}
    </div>
  )
}
