// The rows of the grid that are in the document.
import { Fragment, type ReactNode } from 'react'
import { RowSpacer, type VisibleRows } from '../../app/virtual-rows.tsx'
import { useText } from '../../texts/language.tsx'
import { isConflict } from './edits.ts'
import { rowHeight } from './grid-sizes.ts'
import { PackCell } from './pack-cell.tsx'
import { type Grid, type PackGridProps, toElementId } from './use-grid.ts'

type GridRowsProps = Pick<PackGridProps, 'packs' | 'rows' | 'contents'> & { range: VisibleRows; grid: Grid }

export function GridRows({ range, ...props }: GridRowsProps): ReactNode {
  const { packs, rows, grid } = props
  const shown = listShownRows(range, grid.cell.row, rows.length)
  const columns = packs.length + 1
  return (
    <tbody>
      {shown.map(({ row, gap }) => (
        <Fragment key={rows[row]?.key}>
          <RowSpacer height={gap * rowHeight} columns={columns} />
          <KeyRow row={row} {...props} />
        </Fragment>
      ))}
      <RowSpacer height={(rows.length - 1 - (shown.at(-1)?.row ?? -1)) * rowHeight} columns={columns} />
    </tbody>
  )
}

/** Lists the visible rows and the active row, with the number of rows that are left out before each of them. */
function listShownRows({ first, last }: VisibleRows, active: number, count: number) {
  const rows = Array.from({ length: last - first }, (_, index) => first + index)
  if (active < first) rows.unshift(active)
  else if (active >= last && active < count) rows.push(active)
  return rows.map((row, index) => ({ row, gap: row - (rows[index - 1] ?? -1) - 1 }))
}

function KeyRow({
  row,
  packs,
  rows,
  contents,
  grid,
}: Omit<GridRowsProps, 'range'> & { row: number }): ReactNode {
  const t = useText()
  const { cell, input, getEdit, getSaved } = grid
  const key = rows[row]?.key ?? ''
  return (
    <tr className="pack-row" aria-rowindex={row + 2}>
      <th scope="row" className="pack-key">
        <div className="truncate" title={key}>
          {key}
        </div>
      </th>
      {packs.map(({ id, name }, column) => {
        const target = { key, packId: id }
        const edit = getEdit(target)
        const { editor } = input
        return (
          <PackCell
            key={id}
            id={toElementId({ row, column })}
            label={t('languagePacks.cell', key, name)}
            saved={getSaved(target)}
            edit={edit}
            isKnown={contents.has(id)}
            isConflict={edit !== null && isConflict(edit, contents)}
            isActive={row === cell.row && column === cell.column}
            editor={editor?.target.key === key && editor.target.packId === id ? editor : null}
            onPress={() => input.press({ row, column })}
            onEdit={() => input.start({ row, column })}
          />
        )
      })}
    </tr>
  )
}
