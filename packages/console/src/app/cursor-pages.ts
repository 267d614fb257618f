// Cursor-based pages of a list. The address contains the page number and the cursor of the page. The API cannot read
// backward, so the tab remembers the cursors of the pages that it has shown.
import { useEffect } from 'react'
import { readStored, saveStored } from '../api/browser-storage.ts'
import type { AddressSearch, ListSearch } from './list-search.ts'

const storageKey = 'svc-console.cursors'

type Shown = { readonly list: string; readonly cursors: Readonly<Record<number, string>> }

export type CursorPage = {
  readonly page: number
  /** The cursor of the page; null for the first one. */
  readonly after: string | null
}
export type CursorPages = CursorPage & {
  /** Opens the next or the previous page. If the cursor of that page is unknown, opens the first page. */
  readonly goTo: (page: number) => void
}

/** Parameters that change neither the rows nor their order. */
const otherParameters: ReadonlySet<string> = new Set(['page', 'after', 'open', 'tab'])

const identify = (search: AddressSearch, size: number): string =>
  JSON.stringify([
    location.pathname,
    size,
    Object.entries(search)
      .filter(([key]) => !otherParameters.has(key))
      .toSorted(([a], [b]) => a.localeCompare(b)),
  ])

function readCursors(list: string): Shown['cursors'] {
  const stored = readStored(storageKey, 'sessionStorage')
  if (stored === null) return {}
  const shown = JSON.parse(stored) as Shown
  return shown.list === list ? shown.cursors : {}
}

/** Returns the page that the address names, or the first page if the address contains no cursor. */
export function getCursorPage({ page, after }: Pick<ListSearch, 'page' | 'after'>): CursorPage {
  return page === 1 || after === null ? { page: 1, after: null } : { page, after }
}

/** Adds the function that opens the previous or the next page. `endCursor` is the cursor of the next page, once it is known. */
export function useCursorPages(list: ListSearch, endCursor: string | null | undefined): CursorPages {
  const { page, after } = getCursorPage(list)
  const key = identify(list.search, list.size)
  useEffect(() => {
    const cursors: Record<number, string> = { ...readCursors(key) }
    if (after !== null) cursors[page] = after
    if (typeof endCursor === 'string') cursors[page + 1] = endCursor
    saveStored(storageKey, JSON.stringify({ list: key, cursors } satisfies Shown), 'sessionStorage')
  }, [key, page, after, endCursor])
  return {
    page,
    after,
    goTo: (next) => {
      const cursor = next === page + 1 ? (endCursor ?? undefined) : readCursors(key)[next]
      list.setPage(cursor === undefined ? 1 : next, cursor)
    },
  }
}
