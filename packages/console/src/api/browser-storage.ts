// Small values that the browser keeps, such as the theme. A browser that blocks storage, or whose storage is full, loses
// them at the next load; the console works without them.

type StorageArea = 'localStorage' | 'sessionStorage'

/** Returns the stored value; null if no value is stored or storage is blocked. */
export function readStored(key: string, area: StorageArea = 'localStorage'): string | null {
  try {
    return globalThis[area].getItem(key)
  } catch {
    return null
  }
}

export function saveStored(key: string, value: string, area: StorageArea = 'localStorage'): void {
  try {
    globalThis[area].setItem(key, value)
  } catch {
    // The value applies until the person leaves the page.
  }
}
