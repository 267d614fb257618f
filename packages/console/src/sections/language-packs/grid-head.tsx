// The head of the grid: a button for each locale, with the number of its missing translations.
import type { ReactNode } from 'react'
import { Icon } from '../../kit/icon.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Contents, Pack } from './pack-types.ts'
import { type Row, countMissing } from './rows.ts'

type GridHeadProps = {
  packs: readonly Pack[]
  allRows: readonly Row[]
  contents: Contents
  openId: string | null
  onOpen: (packId: string) => void
}

export function GridHead({ packs, allRows, contents, openId, onOpen }: GridHeadProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  return (
    <thead>
      <tr className="pack-head-row" aria-rowindex={1}>
        <th scope="col" className="pack-key pack-head">
          {t('languagePacks.keyColumn')}
        </th>
        {packs.map(({ id, name }) => {
          const missing = contents.has(id) ? countMissing(allRows, contents, id) : null
          return (
            <th key={id} scope="col" className="pack-head" data-open={id === openId ? '' : undefined}>
              <button
                type="button"
                className="pack-head-button"
                aria-expanded={id === openId}
                onClick={() => onOpen(id)}
              >
                <span className="truncate">{name}</span>{' '}
                {missing !== null && missing > 0 && (
                  <span className="pack-head-note">{t('languagePacks.missingCount', missing)}</span>
                )}
                {missing === 0 && (
                  <span className="pack-head-note">
                    <Icon name="check" size={12} tone="ok" /> {number(allRows.length)}
                  </span>
                )}
              </button>
            </th>
          )
        })}
      </tr>
    </thead>
  )
}
