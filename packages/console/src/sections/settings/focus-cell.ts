// Cells of the settings, found by their id: the cell is a button, or a text area while it is edited.

/** Moves the focus to a cell. Returns false if the page does not show it. */
export function focusCell(cellId: string): boolean {
  const cell = document.querySelector<HTMLElement>(`[data-cell="${CSS.escape(cellId)}"]`)
  cell?.focus()
  return cell !== null
}
