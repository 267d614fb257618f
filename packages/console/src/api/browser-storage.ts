// Small values that the browser keeps, such as the theme. A browser that blocks storage, or whose storage is full, loses
// them at the next load; the console works without them.

type Place = 'localStorage' | 'sessionStorage'

/** Returns a stored value; null without one or without storage. */
export function readStored(key: string, place: Place = 'localStorage'): string | null {
  try {
    return globalThis[place].getItem(key)
  } catch {
    return null
  }
}

export function saveStored(key: string, value: string, place: Place = 'localStorage'): void {
  try {
    globalThis[place].setItem(key, value)
  } catch {
    // The value applies until the page is left.
  }
}
