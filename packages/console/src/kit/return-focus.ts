// Returns the focus when the element that had it is removed with a dialog, a panel or a page. Otherwise the focus would
// be on the body, and a keyboard user would start again at the top of the page.
import { useEffect } from 'react'

type Visit = {
  readonly element: HTMLElement
  /** The element and its ancestors. They are stored because a removed element has no parent. */
  readonly path: readonly EventTarget[]
}

const maxVisits = 100
/** Elements of the page that had the focus, the latest one last. Dialogs and menus are outside of the page. */
const visits: Visit[] = []

function rememberVisit(event: Event): void {
  if (!(event.target instanceof HTMLElement)) return
  visits.push({ element: event.target, path: event.composedPath() })
  if (visits.length > maxVisits) visits.shift()
}

/** Remembers which elements of the page get the focus. */
export const trackFocus = (page: Element): void => page.addEventListener('focusin', rememberVisit, true)

const isFocusLost = (): boolean => document.activeElement === null || document.activeElement === document.body

/**
 * Moves the focus to the element outside of `removed` that had the focus most recently, or to its closest remaining
 * ancestor. With `target`, tries that element first. Does nothing if another element has the focus.
 */
export function returnFocus(removed: Element | null = null, target: HTMLElement | null = null): void {
  const visit = visits.findLast(({ path }) => removed === null || !path.includes(removed))
  if (isFocusLost()) target?.focus({ preventScroll: true })
  if (visit === undefined) return
  if (isFocusLost()) visit.element.focus({ preventScroll: true })
  const tryAround = (): void => {
    for (const element of visit.path) {
      if (!isFocusLost()) return
      if (element instanceof HTMLElement) element.focus({ preventScroll: true })
    }
  }
  // A dialog that closes returns the focus in the next frame, and the page can be inert until then.
  requestAnimationFrame(() => requestAnimationFrame(tryAround))
}

/** Returns the focus if the element that had it was removed, but not if the person moved the focus away. */
export function recoverFocus(): void {
  if (visits.at(-1)?.element.isConnected === false) returnFocus()
}

/** Returns the focus when the component is removed. */
export const useReturnFocus = (): void => useEffect(() => () => returnFocus(), [])
