// The pager of a list whose page is part of the address.
import type { ReactNode } from 'react'
import { Pager } from '../kit/pager.tsx'
import type { ListSearch } from './list-search.ts'

type ListPagerProps = {
  list: ListSearch
  result: { nodes: readonly unknown[]; totalCount: number; isTotalExact: boolean }
}

export const ListPager = ({ list, result }: ListPagerProps): ReactNode => (
  <Pager
    page={list.page}
    size={list.size}
    shown={result.nodes.length}
    total={result.totalCount}
    isTotalExact={result.isTotalExact}
    onPage={list.setPage}
    onSize={list.setSize}
  />
)
