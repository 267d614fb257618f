// Returns the focus when the element that had it is removed with a dialog, a panel or a page. Otherwise the focus would
// be on the body, and a person with a keyboard would start again at the top of the page.
import { useEffect } from 'react'

type Visit = {
  readonly element: HTMLElement
  /** The element and the elements around it. They are remembered because a removed element has no parents. */
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
 * Moves the focus to the element that had it last outside of `removed`, or to what is left around that element. With
 * `target`, it tries that element first. Does nothing if another element has the focus.
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

/** Returns the focus if the element that had it was removed, and not if the person left it. */
export function recoverFocus(): void {
  if (visits.at(-1)?.element.isConnected === false) returnFocus()
}

/** Returns the focus when the component is removed. */
export const useReturnFocus = (): void => useEffect(() => () => returnFocus(), [])
