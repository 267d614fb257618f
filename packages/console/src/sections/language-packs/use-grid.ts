// Connects the cells of the grid with the stored translations and the unsaved changes.
import { type RefObject, useMemo } from 'react'
import { type Cell, clampCell } from '../../app/grid-keys.ts'
import { type GridSizes, revealCell } from '../../app/virtual-rows.tsx'
import { type Edit, findSaved, toCellId } from './edits.ts'
import type { Contents, Pack } from './pack-types.ts'
import type { Row } from './rows.ts'
import type { Draft } from './use-edits.ts'
import { type Target, useGridInput } from './use-grid-input.ts'

/** The active cell by key and pack, so that it stays active when the rows are sorted again. */
export type ActiveCell = Target & { readonly row: number }

export type PackGridProps = {
  grid: RefObject<HTMLTableElement | null>
  packs: readonly Pack[]
  rows: readonly Row[]
  /** All keys, for the number of missing translations of each pack. */
  allRows: readonly Row[]
  contents: Contents
  draft: Draft
  active: ActiveCell | null
  onActive: (active: ActiveCell) => void
  canChange: boolean
  openId: string | null
  onOpen: (packId: string) => void
}

/** Returns the position of the active cell. If its key is no longer shown, the cell in its place is active. */
function useActivePosition({ packs, rows, active }: PackGridProps): Cell {
  const positions = useMemo(() => new Map(rows.map(({ key }, index) => [key, index])), [rows])
  const position = {
    row: positions.get(active?.key ?? '') ?? active?.row ?? 0,
    column: packs.findIndex(({ id }) => id === active?.packId),
  }
  return clampCell(position, { rows: rows.length, columns: packs.length })
}

/** Connects the keyboard and the editor to the unsaved changes. */
export function useGrid(props: PackGridProps, frame: HTMLElement | null, sizes: GridSizes) {
  const { grid, packs, rows, contents, draft, onActive, canChange } = props
  const cell = useActivePosition(props)
  const getTarget = ({ row, column }: Cell): Target => ({
    key: rows[row]?.key ?? '',
    packId: packs[column]?.id ?? '',
  })
  const getEdit = ({ packId, key }: Target): Edit | null => draft.edits.get(toCellId(packId, key)) ?? null
  const getSaved = ({ packId, key }: Target): string | null => findSaved(contents, packId, key)
  const input = useGridInput({
    grid,
    cell,
    size: { rows: rows.length, columns: packs.length },
    getTarget,
    isReady: ({ packId }) => canChange && contents.has(packId),
    getValue: (target) => {
      const edit = getEdit(target)
      return edit === null ? getSaved(target) : edit.value
    },
    moveTo: (next) => {
      onActive({ ...getTarget(next), row: next.row })
      if (frame !== null) revealCell(frame, next, sizes)
    },
    change: draft.change,
    undo: (target) => {
      const isEdited = getEdit(target) !== null
      if (isEdited) draft.undo(target.packId, target.key)
      return isEdited
    },
  })
  return { cell, input, getEdit, getSaved }
}

export type Grid = ReturnType<typeof useGrid>

/** Returns the id of the element of a cell. */
export const toElementId = ({ row, column }: Cell): string => `pack-${row}-${column}`
