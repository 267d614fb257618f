// A grid of keys and locales that is edited like a spreadsheet. Only the visible rows and the active row are in the
// document. The grid keeps the focus and names the active cell, except while a cell is edited.
import './pack-grid.css'
import { type ReactNode, useState } from 'react'
import { useVisibleRows } from '../../app/virtual-rows.tsx'
import { useText } from '../../texts/language.tsx'
import { GridHead } from './grid-head.tsx'
import { GridRows } from './grid-rows.tsx'
import { findGridSizes, rowHeight } from './grid-sizes.ts'
import { type PackGridProps, toElementId, useGrid } from './use-grid.ts'

export function PackGrid(props: PackGridProps): ReactNode {
  const { grid, packs, rows, contents, canChange } = props
  const t = useText()
  const [frame, setFrame] = useState<HTMLDivElement | null>(null)
  const [sizes] = useState(findGridSizes)
  const { nameWidth, cellWidth } = sizes
  const used = useGrid(props, frame, sizes)
  const range = useVisibleRows(frame, rows.length, rowHeight)
  return (
    <div className="pack-frame" ref={setFrame}>
      <table
        ref={grid}
        className="pack-grid"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- a grid is an interactive table
        role="grid"
        aria-label={t('section.languagePacks')}
        aria-rowcount={rows.length + 1}
        aria-colcount={packs.length + 1}
        aria-activedescendant={toElementId(used.cell)}
        aria-readonly={!canChange}
        data-action="languagePacks.change"
        tabIndex={0}
        onKeyDown={used.input.onKeyDown}
        style={{ minWidth: nameWidth + packs.length * cellWidth }}
      >
        <colgroup>
          <col width={nameWidth} />
          {packs.map(({ id }) => (
            <col key={id} />
          ))}
        </colgroup>
        <GridHead {...props} />
        <GridRows packs={packs} rows={rows} contents={contents} range={range} grid={used} />
      </table>
    </div>
  )
}
