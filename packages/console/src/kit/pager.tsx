// The footer of a list: the range of shown rows, the page size, and buttons for the previous and next page.
import type { ReactNode } from 'react'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import { IconButton } from './button.tsx'
import { Select } from './form.tsx'
import { type PageSize, pageSizes } from './page-sizes.ts'

type PagerProps = {
  /** The page number, starting at 1. */
  page: number
  size: PageSize
  shown: number
  total: number
  isTotalExact: boolean
  /** For cursor-based lists, whose total can be unknown. */
  hasNext?: boolean
  onPage: (page: number) => void
  onSize: (size: PageSize) => void
}

export function Pager({ page, size, shown, total, isTotalExact, ...props }: PagerProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const first = (page - 1) * size + 1
  const { hasNext = !isTotalExact || first + shown - 1 < total, onPage, onSize } = props
  const totalText = isTotalExact ? number(total) : `${number(total)}+`
  return (
    <>
      <span className="numbers">
        {shown === 0 ? t('kit.noRows') : t('kit.range', number(first), number(first + shown - 1), totalText)}
      </span>
      <span className="pager-controls">
        <Select
          label={t('kit.rowsPerPage')}
          isLabelHidden
          isSmall
          value={String(size)}
          options={pageSizes.map((value) => ({ id: String(value), text: String(value) }))}
          onChange={(value) => onSize(Number(value) as PageSize)}
        />
        <IconButton
          icon="chevronLeft"
          size="small"
          label={t('kit.previousPage')}
          isDisabled={page <= 1}
          onPress={() => onPage(page - 1)}
        />
        <IconButton
          icon="chevronRight"
          size="small"
          label={t('kit.nextPage')}
          isDisabled={!hasNext}
          onPress={() => onPage(page + 1)}
        />
      </span>
    </>
  )
}
