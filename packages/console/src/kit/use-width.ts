// The width of an element, for layouts that depend on it instead of the width of the window.
import { useLayoutEffect, useState } from 'react'

/** Returns the width of the element in pixels, or null until it has been measured. */
export function useWidth(element: Element | null): number | null {
  const [width, setWidth] = useState<number | null>(null)
  useLayoutEffect(() => {
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return width
}
