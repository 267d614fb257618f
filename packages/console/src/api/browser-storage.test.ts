import { afterEach, expect, test, vi } from 'vitest'
import { readStored, saveStored } from './browser-storage.ts'

afterEach(() => vi.unstubAllGlobals())

test('values are kept in the storage of the browser or of the tab', () => {
  const items = new Map<string, string>()
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
  }
  vi.stubGlobal('sessionStorage', storage)
  saveStored('size', '50', 'sessionStorage')
  expect(readStored('size', 'sessionStorage')).toBe('50')
  expect(readStored('other', 'sessionStorage')).toBe(null)
})

test('a browser that blocks storage keeps nothing and reports no error', () => {
  vi.stubGlobal('window', globalThis)
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    get: () => {
      throw new DOMException('Access is denied for this document.', 'SecurityError')
    },
  })
  expect(() => saveStored('theme', 'dark')).not.toThrow()
  expect(readStored('theme')).toBe(null)
})
