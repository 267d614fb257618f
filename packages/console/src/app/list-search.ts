// The state of a list in the address: filters, order, page and the open item. Back, reload and a pasted link restore it.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { readStored, saveStored } from '../api/browser-storage.ts'
import type { Sort } from '../kit/data-table.tsx'
import { type PageSize, pageSizes } from '../kit/page-sizes.ts'

const sizeKey = 'svc-console.page-size'

/** All search parameters of the console are strings, so that a manipulated address cannot introduce other types. */
export type AddressSearch = Readonly<Record<string, string | undefined>>

const maxParameters = 20
const maxLength = 200

/** Keeps only short strings. */
export const validateSearch = (search: Record<string, unknown>): AddressSearch =>
  Object.fromEntries(
    Object.entries(search)
      .map(([key, value]) => [key, typeof value === 'number' ? String(value) : value] as const)
      .filter((entry): entry is readonly [string, string] => typeof entry[1] === 'string')
      .filter(([, value]) => value !== '' && value.length <= maxLength)
      .slice(0, maxParameters),
  )

export type ListSearch = {
  readonly search: AddressSearch
  readonly page: number
  /** The cursor of the page; null for lists without cursors and for the first page. */
  readonly after: string | null
  readonly size: PageSize
  readonly sort: Sort | null
  readonly open: string | null
  /**
   * Changes parameters; undefined removes a parameter. Changing a filter returns to page 1 and replaces the history
   * entry.
   */
  readonly setFilter: (changes: AddressSearch) => void
  readonly setSort: (sort: Sort) => void
  readonly setPage: (page: number, after?: string) => void
  readonly setSize: (size: PageSize) => void
  /** Opens an item, or closes the open one if the id is null. Adds an entry to the history. */
  readonly setOpen: (id: string | null, changes?: AddressSearch) => void
}

const firstPage = { page: undefined, after: undefined } as const

const isPageSize = (value: number): value is PageSize => pageSizes.some((size) => size === value)

function readSize(text: string | undefined): PageSize {
  const size = Number(text ?? readStored(sizeKey))
  return isPageSize(size) ? size : pageSizes[0]
}

function readSort(text: string | undefined): Sort | null {
  if (text === undefined || !/^-?[A-Za-z]+$/.test(text)) return null
  return text.startsWith('-')
    ? { field: text.slice(1), direction: 'DESC' }
    : { field: text, direction: 'ASC' }
}

/** Reads and changes the state of the list of the current page. */
export function useListSearch(): ListSearch {
  const search = useSearch({ strict: false }) as AddressSearch
  const navigate = useNavigate()
  const change = useCallback(
    (changes: AddressSearch, replace: boolean) =>
      void navigate({
        to: '.',
        search: ((previous: AddressSearch) => ({ ...previous, ...changes })) as never,
        replace,
      }),
    [navigate],
  )
  const page = Number(search['page'] ?? 1)
  return {
    search,
    page: Number.isInteger(page) && page > 0 ? page : 1,
    after: search['after'] ?? null,
    size: readSize(search['size']),
    sort: readSort(search['sort']),
    open: search['open'] ?? null,
    setFilter: (changes) => change({ ...changes, ...firstPage }, true),
    setSort: ({ field, direction }) =>
      change({ sort: direction === 'DESC' ? `-${field}` : field, ...firstPage }, true),
    setPage: (next, after) => change({ page: next === 1 ? undefined : String(next), after }, false),
    setSize: (size) => {
      saveStored(sizeKey, String(size))
      change({ size: String(size), ...firstPage }, true)
    },
    setOpen: (id, changes = {}) => change({ tab: undefined, ...changes, open: id ?? undefined }, false),
  }
}
