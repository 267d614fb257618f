// A grid of tenants and applications. Only the visible rows are in the document. The grid keeps the focus and names
// the active cell, so that the focus is not lost when its row is scrolled out of the document.
import './access-grid.css'
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useState } from 'react'
import type { ApplicationName } from '../../app/applications.ts'
import { useText } from '../../texts/language.tsx'
import { AccessCell } from './access-cell.tsx'
import type { AccessRow, AccessRows, AccessTenant } from './access-data.ts'
import { type Marks, createMarkKey } from './access-marks.ts'
import { type Cell, moveCell } from './grid-keys.ts'

const rowHeight = 32
const headHeight = 48
const nameWidth = 192
const cellWidth = 96
/** Number of rows to render above and below the visible ones. */
const spareRows = 6

export type AccessGridProps = {
  grid: RefObject<HTMLTableElement | null>
  tenants: readonly AccessTenant[]
  applications: readonly ApplicationName[]
  totals: ReadonlyMap<string, string>
  rows: AccessRows
  marks: Marks
  /** Whether the caller may change rows. */
  canChange: boolean
}

/** Returns the range of rows to render. */
function useVisibleRows(frame: HTMLDivElement | null, count: number): { first: number; last: number } {
  const [view, setView] = useState({ top: 0, height: 640 })
  useEffect(() => {
    if (frame === null) return undefined
    const update = (): void => setView({ top: frame.scrollTop, height: frame.clientHeight })
    const observer = new ResizeObserver(update)
    observer.observe(frame)
    frame.addEventListener('scroll', update, { passive: true })
    return () => {
      observer.disconnect()
      frame.removeEventListener('scroll', update)
    }
  }, [frame])
  const first = Math.max(0, Math.floor(view.top / rowHeight) - spareRows)
  return { first, last: Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + spareRows) }
}

/** Scrolls until the cell is visible and neither the header nor the first column hides it. */
function revealCell(frame: HTMLDivElement, { row, column }: Cell): void {
  const top = row * rowHeight
  const left = column * cellWidth
  const height = frame.clientHeight - headHeight
  const width = frame.clientWidth - nameWidth
  if (top < frame.scrollTop) frame.scrollTop = top
  if (top + rowHeight > frame.scrollTop + height) frame.scrollTop = top + rowHeight - height
  if (left < frame.scrollLeft) frame.scrollLeft = left
  if (left + cellWidth > frame.scrollLeft + width) frame.scrollLeft = left + cellWidth - width
}

export function AccessGrid(props: AccessGridProps): ReactNode {
  const { grid, tenants, applications, totals, rows, marks, canChange } = props
  const t = useText()
  const [frame, setFrame] = useState<HTMLDivElement | null>(null)
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 })
  const { first, last } = useVisibleRows(frame, tenants.length)
  const toggle = (row: number, column: number): void => {
    const tenant = tenants[row]
    const application = applications[column]
    const known = tenant === undefined ? undefined : rows.get(tenant.id)
    if (!canChange || tenant === undefined || application === undefined || known === undefined) return
    marks.toggle(tenant, application, known.get(application.id) ?? null)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault()
      toggle(active.row, active.column)
      return
    }
    const next = moveCell(event, active, { rows: tenants.length, columns: applications.length })
    if (next === null || frame === null) return
    event.preventDefault()
    setActive(next)
    revealCell(frame, next)
  }
  return (
    <div className="access-frame" ref={setFrame}>
      <table
        ref={grid}
        className="access-grid"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- a grid is an interactive table
        role="grid"
        aria-label={t('section.access')}
        aria-rowcount={tenants.length + 1}
        aria-colcount={applications.length + 1}
        aria-activedescendant={`access-${active.row}-${active.column}`}
        aria-readonly={!canChange}
        data-action="access.change"
        tabIndex={0}
        onKeyDown={onKeyDown}
        style={{ minWidth: nameWidth + applications.length * cellWidth }}
      >
        <colgroup>
          <col width={nameWidth} />
          {applications.map(({ id }) => (
            <col key={id} width={cellWidth} />
          ))}
          {/* Takes the remaining width, so that cells do not move when the preview opens. */}
          <col />
        </colgroup>
        <GridHead applications={applications} totals={totals} marks={marks} />
        <tbody>
          <Spacer rows={first} columns={applications.length + 2} />
          {tenants.slice(first, last).map((tenant, offset) => {
            const row = first + offset
            return (
              <GridRow
                key={tenant.id}
                tenant={tenant}
                row={row}
                activeColumn={row === active.row ? active.column : null}
                applications={applications}
                known={rows.get(tenant.id)}
                marks={marks}
                onPress={(column) => {
                  setActive({ row, column })
                  grid.current?.focus({ preventScroll: true })
                  toggle(row, column)
                }}
              />
            )
          })}
          <Spacer rows={tenants.length - last} columns={applications.length + 2} />
        </tbody>
      </table>
    </div>
  )
}

type GridRowProps = Pick<AccessGridProps, 'applications' | 'marks'> & {
  tenant: AccessTenant
  row: number
  activeColumn: number | null
  /** The rows for the tenant, by application; undefined while they are loading. */
  known: ReadonlyMap<string, AccessRow> | undefined
  onPress: (column: number) => void
}

const GridRow = ({
  tenant,
  row,
  activeColumn,
  applications,
  known,
  marks,
  onPress,
}: GridRowProps): ReactNode => (
  <tr className="access-row" aria-rowindex={row + 2}>
    <th scope="row" className="access-tenant">
      <div className="truncate" title={tenant.name}>
        {tenant.name}
      </div>
    </th>
    {applications.map((application, column) => (
      <AccessCell
        key={application.id}
        id={`access-${row}-${column}`}
        isActive={column === activeColumn}
        isKnown={known !== undefined}
        row={known?.get(application.id) ?? null}
        mark={marks.byKey.get(createMarkKey(tenant.id, application.id)) ?? null}
        onPress={() => onPress(column)}
      />
    ))}
    <td className="access-rest" aria-hidden="true" />
  </tr>
)

/** Fills the space of rows that are not in the document. */
const Spacer = ({ rows, columns }: { rows: number; columns: number }): ReactNode =>
  rows <= 0 ? null : (
    <tr aria-hidden="true" style={{ height: rows * rowHeight }}>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the cell is empty and hidden */}
      <td colSpan={columns} />
    </tr>
  )

type GridHeadProps = Pick<AccessGridProps, 'applications' | 'totals' | 'marks'>

function GridHead({ applications, totals, marks }: GridHeadProps): ReactNode {
  const t = useText()
  const countMarks = (id: string): number =>
    marks.list
      .filter(({ application }) => application.id === id)
      .reduce((sum, { isOn }) => sum + (isOn ? 1 : -1), 0)
  return (
    <thead>
      <tr className="access-head-row" aria-rowindex={1}>
        <th scope="col" className="access-tenant access-head">
          {t('tenants.one')}
        </th>
        {applications.map(({ id, name }) => {
          const change = countMarks(id)
          return (
            <th key={id} scope="col" className="access-head">
              <div className="truncate" title={name}>
                {name}
              </div>
              <div className="access-total numbers">
                {totals.get(id) ?? ''}
                {change !== 0 && (
                  <span className="access-change"> {change > 0 ? `+${change}` : `−${-change}`}</span>
                )}
              </div>
            </th>
          )
        })}
        <td className="access-head access-rest" aria-hidden="true" />
      </tr>
    </thead>
  )
}
