// The pager of the log. The API does not count the calls, because a log can have millions of them.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { Pager } from '../../kit/pager.tsx'
import type { CallsRead } from './use-calls.ts'

type PagerProps = { list: ListSearch; read: CallsRead }

export function CallPager({ list, read: { steady, pages, hasNext } }: PagerProps): ReactNode {
  const shown = steady.rows.length
  const last = (pages.page - 1) * list.size + shown
  return (
    <Pager
      page={pages.page}
      size={list.size}
      shown={shown}
      total={last}
      isTotalExact={!hasNext}
      hasNext={hasNext}
      onPage={pages.goTo}
      onSize={list.setSize}
    />
  )
}
