// The keyboard, the clipboard and the editor of the grid, as in a spreadsheet.
import { type KeyboardEvent, type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react'
import { type Cell, clampCell, moveCell } from '../../app/grid-keys.ts'

/** A cell by key and pack. */
export type Target = { readonly packId: string; readonly key: string }
type TargetChange = Target & { readonly value: string | null }
type GridInputOptions = {
  grid: RefObject<HTMLTableElement | null>
  cell: Cell
  size: { readonly rows: number; readonly columns: number }
  getTarget: (cell: Cell) => Target
  /** Whether the cell can be changed. */
  isReady: (target: Target) => boolean
  getValue: (target: Target) => string | null
  moveTo: (cell: Cell) => void
  change: (changes: readonly TargetChange[]) => void
  /** Resets the cell to its stored value. Returns whether the cell was edited. */
  undo: (target: Target) => boolean
}

/** The direction in which the active cell moves when the editor accepts its text. */
type Step = 'down' | 'right' | 'left' | null
export type CellEditor = {
  readonly target: Target
  readonly text: string
  /** Typing a character replaces the text; Enter keeps it and selects it. */
  readonly isReplaced: boolean
  readonly onChange: (text: string) => void
  readonly onCommit: (step: Step, keepsFocus: boolean) => void
  readonly onCancel: () => void
}

/** A pasted block is applied to at most this many cells. */
const maxPastedCells = 10_000

/** Returns whether the key types a character. AltGr counts as Ctrl and Alt on some systems. */
const isPrintable = (event: KeyboardEvent): boolean =>
  event.key.length === 1 &&
  event.key !== ' ' &&
  (event.getModifierState('AltGraph') || !(event.ctrlKey || event.metaKey || event.altKey))

type OpenEditor = { readonly target: Target; readonly text: string; readonly isReplaced: boolean }

/** Opens and closes the editor. It is closed once, although moving the focus also closes it. */
function useEditor({ grid, cell, size, getTarget, isReady, getValue, moveTo, change }: GridInputOptions) {
  const [open, setOpen] = useState<OpenEditor | null>(null)
  const isOpen = useRef(false)
  const focusGrid = (): void => grid.current?.focus({ preventScroll: true })
  const close = (): boolean => {
    const wasOpen = isOpen.current
    isOpen.current = false
    setOpen(null)
    return wasOpen
  }
  const start = (at: Cell, typed?: string): void => {
    const target = getTarget(at)
    if (!isReady(target)) return
    isOpen.current = true
    moveTo(at)
    setOpen({ target, text: typed ?? getValue(target) ?? '', isReplaced: typed !== undefined })
  }
  const commit = (step: Step, keepsFocus: boolean): void => {
    if (open === null || !close()) return
    const { target, text } = open
    if (text !== (getValue(target) ?? '')) change([{ ...target, value: text === '' ? null : text }])
    const { row, column } = cell
    const next = {
      down: { row: row + 1, column },
      right: { row, column: column + 1 },
      left: { row, column: column - 1 },
    }
    if (step !== null) moveTo(clampCell(next[step], size))
    if (keepsFocus) focusGrid()
  }
  const editor: CellEditor | null = open && {
    target: open.target,
    text: open.text,
    isReplaced: open.isReplaced,
    onChange: (text) => setOpen({ ...open, text }),
    onCommit: commit,
    onCancel: () => {
      close()
      focusGrid()
    },
  }
  return { editor, start, focusGrid }
}

export function useGridInput(options: GridInputOptions) {
  const { cell, size, getTarget, isReady, getValue, moveTo, change, undo } = options
  const { editor, start, focusGrid } = useEditor(options)
  useClipboard({ ...options, isEditing: editor !== null })
  const onKeyDown = (event: KeyboardEvent): void => {
    // The editor handles its own keys, and buttons in the header theirs.
    if (event.target !== event.currentTarget) return
    const { key } = event
    const target = getTarget(cell)
    const next = moveCell(event, cell, size)
    if (next !== null) moveTo(next)
    else if (key === 'Enter' || key === 'F2') start(cell)
    else if (key === 'Escape') {
      if (!undo(target)) return
    } else if (key === 'Delete' || key === 'Backspace') {
      if (isReady(target) && getValue(target) !== null) change([{ ...target, value: null }])
    } else if (isPrintable(event) && isReady(target)) start(cell, key)
    else if (key !== ' ') return
    event.preventDefault()
  }
  return {
    editor,
    onKeyDown,
    start: (at: Cell) => start(at),
    press: (at: Cell) => {
      moveTo(at)
      focusGrid()
    },
  }
}

/** Copies the active cell, and pastes a block of cells that a spreadsheet has copied. */
function useClipboard({ isEditing, ...options }: ClipboardOptions): void {
  const { grid, cell, size, getTarget, isReady, getValue, change } = options
  const handle = useEffectEvent((event: ClipboardEvent) => {
    if (isEditing || document.activeElement !== grid.current || event.clipboardData === null) return
    if (event.type === 'copy') {
      if (getSelection()?.isCollapsed === false) return
      event.clipboardData.setData('text/plain', getValue(getTarget(cell)) ?? '')
    } else {
      const block = readBlock(event.clipboardData.getData('text/plain'))
      const changes = block.flatMap((values, row) =>
        values.map((value, column) => ({ at: { row: cell.row + row, column: cell.column + column }, value })),
      )
      change(
        changes
          .slice(0, maxPastedCells)
          .filter(({ at }) => at.row < size.rows && at.column < size.columns)
          .map(({ at, value }) => ({ ...getTarget(at), value: value === '' ? null : value }))
          .filter(isReady),
      )
    }
    event.preventDefault()
  })
  useEffect(() => {
    const listener = (event: ClipboardEvent): void => handle(event)
    document.addEventListener('copy', listener)
    document.addEventListener('paste', listener)
    return () => {
      document.removeEventListener('copy', listener)
      document.removeEventListener('paste', listener)
    }
  }, [])
}

type ClipboardOptions = GridInputOptions & { isEditing: boolean }

/** Splits a copied block into cells. A final line break does not start another row. */
const readBlock = (text: string): readonly (readonly string[])[] =>
  text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => line.split('\t'))
