// A grid of tenants and applications. Only the visible rows are in the document. The grid keeps the focus and names
// the active cell, so that the focus is not lost when its row is scrolled out of the document.
import './access-grid.css'
import { type KeyboardEvent, type ReactNode, type RefObject, useState } from 'react'
import type { ApplicationName } from '../../app/applications.ts'
import { type Cell, moveCell } from '../../app/grid-keys.ts'
import { type GridSizes, RowSpacer, revealCell, useVisibleRows } from '../../app/virtual-rows.tsx'
import { useText } from '../../texts/language.tsx'
import { AccessCell } from './access-cell.tsx'
import type { AccessRow, AccessRows, AccessTenant } from './access-data.ts'
import { type Marks, createMarkKey } from './access-marks.ts'

const sizes: GridSizes = { rowHeight: 32, headHeight: 48, nameWidth: 192, cellWidth: 96 }
const { rowHeight, nameWidth, cellWidth } = sizes

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

export function AccessGrid(props: AccessGridProps): ReactNode {
  const { grid, tenants, applications, totals, rows, marks, canChange } = props
  const t = useText()
  const [frame, setFrame] = useState<HTMLDivElement | null>(null)
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 })
  const { first, last } = useVisibleRows(frame, tenants.length, rowHeight)
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
    revealCell(frame, next, sizes)
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
          <RowSpacer height={first * rowHeight} columns={applications.length + 2} />
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
          <RowSpacer height={(tenants.length - last) * rowHeight} columns={applications.length + 2} />
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
