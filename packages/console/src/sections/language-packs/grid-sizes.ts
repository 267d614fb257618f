import type { GridSizes } from '../../app/virtual-rows.tsx'

const narrowScreen = '(max-width: 639px)'

/** The height of a row in pixels, as in `pack-grid.css`. */
export const rowHeight = 32

/** Returns the sizes in pixels. On a narrow screen, a translation still fits beside its key. */
export const findGridSizes = (): GridSizes => ({
  rowHeight,
  headHeight: 48,
  nameWidth: matchMedia(narrowScreen).matches ? 136 : 240,
  cellWidth: 200,
})
