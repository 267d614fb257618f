// A table with one page of rows. Rows are virtual: only the visible ones are in the document.
import './data-table.css'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import {
  Cell,
  Checkbox,
  Column,
  ColumnResizer,
  Group,
  type Key,
  ResizableTableContainer,
  Row,
  type Selection,
  type SortDescriptor,
  Table,
  TableBody,
  TableHeader,
  TableLayout,
  Virtualizer,
} from 'react-aria-components'
import { useText } from '../texts/language.tsx'
import { Icon } from './icon.tsx'
import { useWidth } from './use-width.ts'

export type DataColumn<Item> = {
  id: string
  title: string
  /** The name of the API's order field; a column without it cannot be sorted. */
  sortField?: string
  align?: 'start' | 'end'
  /** Initial width: a fraction such as `2fr`, or a number of pixels. */
  width?: `${number}fr` | number
  minWidth?: number
  /** Marks the columns that name the row for screen readers. At least one column has it. */
  isRowHeader?: boolean
  /** When the table is narrow, columns with the highest number are dropped first; 1 is never dropped. */
  priority?: 1 | 2 | 3
  render(item: Item): ReactNode
}

export type Sort = { field: string; direction: 'ASC' | 'DESC' }

export type DataTableProps<Item extends { readonly id: string }> = {
  label: string
  columns: readonly DataColumn<Item>[]
  rows: readonly Item[]
  sort?: Sort | null
  onSort?: (sort: Sort) => void
  /** The id of the item whose details are open. */
  openId?: string | null
  onOpen?: (id: string) => void
  /** The ids of rows that were removed from the list since it was shown. They are struck through. */
  goneIds?: ReadonlySet<string>
  /** Adds check boxes to choose several rows of the page. */
  selection?: { readonly ids: ReadonlySet<string>; readonly onChange: (ids: ReadonlySet<string>) => void }
  /** Shown instead of rows: loading, empty or a failure. */
  placeholder?: ReactNode
  rowHeight?: 32 | 40 | 48
}

const toDescriptor = (sort: Sort | null | undefined): SortDescriptor | undefined =>
  sort === null || sort === undefined
    ? undefined
    : { column: sort.field, direction: sort.direction === 'ASC' ? 'ascending' : 'descending' }

/** Drops the least important columns until the rest fits. The columns keep their order. */
function fitColumns<Item>(columns: readonly DataColumn<Item>[], width: number): readonly DataColumn<Item>[] {
  const measure = (list: readonly DataColumn<Item>[]): number =>
    list.reduce((sum, { minWidth = defaultMinWidth }) => sum + minWidth, 0)
  let fitting = columns
  for (const priority of [3, 2])
    while (measure(fitting) > width) {
      const index = fitting.findLastIndex(
        (column) => (column.priority ?? 2) >= priority && column.isRowHeader !== true,
      )
      if (index === -1) break
      fitting = fitting.toSpliced(index, 1)
    }
  return fitting
}
const defaultMinWidth = 96
const narrowWidth = 560
const noIds: ReadonlySet<string> = new Set()
const checkColumn = {
  id: 'check',
  title: '',
  width: 48,
  minWidth: 48,
  priority: 1,
  render: () => <RowCheck />,
} as const satisfies DataColumn<unknown>

export function DataTable<Item extends { readonly id: string }>({
  label,
  columns: allColumns,
  rows,
  ...props
}: DataTableProps<Item>): ReactNode {
  const { sort, onSort, openId = null, onOpen, goneIds = noIds } = props
  const { selection, placeholder, rowHeight = 40 } = props
  const [container, setContainer] = useState<HTMLDivElement | null>(null)
  const width = useWidth(container)
  useRowFocus(container, openId)
  const wanted = selection === undefined ? allColumns : [checkColumn, ...allColumns]
  const columns = fitColumns(wanted, width ?? Infinity).map((column) => ({
    ...column,
    // React reuses a column that has the same key, and the id of a reused column must not change.
    key: column.sortField ?? column.id,
  }))
  const height = width !== null && width < narrowWidth ? Math.max(rowHeight, 48) : rowHeight
  const getEdge = (id: string): 'first' | 'last' | undefined => {
    if (id === columns[0]?.id) return 'first'
    return id === columns.at(-1)?.id ? 'last' : undefined
  }
  return (
    <ResizableTableContainer className="table-container" ref={setContainer}>
      <Virtualizer layout={TableLayout} layoutOptions={{ rowHeight: height, headingHeight: 32 }}>
        <Table
          className="table"
          aria-label={label}
          {...getSelectionProps({ rows, openId, onOpen, selection })}
          sortDescriptor={toDescriptor(sort)}
          onSortChange={({ column, direction }) =>
            onSort?.({ field: String(column), direction: direction === 'descending' ? 'DESC' : 'ASC' })
          }
        >
          <TableHeader columns={columns}>
            {(column) => <Head column={column} edge={getEdge(column.id)} />}
          </TableHeader>
          <TableBody items={rows} dependencies={[allColumns, columns.length, height, goneIds, openId]}>
            {(item) => (
              <Row
                id={item.id}
                className="table-row"
                data-gone={goneIds.has(item.id) || undefined}
                data-open={item.id === openId ? '' : undefined}
                columns={columns}
                dependencies={[item, allColumns, columns.length, goneIds, openId]}
              >
                {(column) => (
                  <Cell className="table-cell" data-align={column.align} data-edge={getEdge(column.id)}>
                    {column.render(item)}
                    {column.isRowHeader === true && goneIds.has(item.id) && <GoneHint />}
                  </Cell>
                )}
              </Row>
            )}
          </TableBody>
        </Table>
      </Virtualizer>
      {/* The Tab key skips buttons in the table, so the placeholder is outside of it. */}
      {rows.length === 0 && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
        <div className="table-placeholder" role="group" aria-label={label} tabIndex={0}>
          {placeholder}
        </div>
      )}
    </ResizableTableContainer>
  )
}

/** Says in words that the row was removed. */
const GoneHint = (): ReactNode => {
  const t = useText()
  return <span className="visually-hidden">{t('kit.goneRow')}</span>
}

type SelectionProps = Pick<DataTableProps<{ readonly id: string }>, 'rows' | 'onOpen' | 'selection'> & {
  openId: string | null
}

/** Without check boxes, the selected row is the open one. With check boxes, Enter opens a row if none is chosen. */
function getSelectionProps({ rows, openId, onOpen, selection }: SelectionProps) {
  if (selection === undefined)
    return {
      selectionMode: onOpen === undefined ? 'none' : 'single',
      selectionBehavior: 'toggle',
      disallowEmptySelection: true,
      selectedKeys: openId === null ? [] : [openId],
      onSelectionChange: (keys: Selection) => {
        const [key] = keys
        if (key !== undefined && key !== openId) onOpen?.(String(key))
      },
    } as const
  const { ids, onChange } = selection
  return {
    selectionMode: 'multiple',
    selectionBehavior: 'toggle',
    selectedKeys: rows.flatMap(({ id }) => (ids.has(id) ? [id] : [])),
    onSelectionChange: (keys: Selection) => {
      const chosen = keys === 'all' ? rows.map(({ id }) => id) : [...keys].map(String)
      // Rows of other pages stay chosen.
      const others = [...ids].filter((id) => !rows.some((row) => row.id === id))
      onChange(new Set([...others, ...chosen]))
    },
    ...(onOpen === undefined ? {} : { onRowAction: (key: Key) => onOpen(String(key)) }),
  } as const
}

/** The check box of a row, or of the head, which chooses all rows of the page. React Aria labels it. */
const RowCheck = (): ReactNode => (
  <Checkbox slot="selection" className="check table-check">
    {({ isIndeterminate }) => (
      <span className="check-box">
        <Icon name={isIndeterminate ? 'minusSign' : 'check'} size={12} />
      </span>
    )}
  </Checkbox>
)

/** Moves the focus to the row of the item that was open, unless the focus returned to a place outside of the table. */
function useRowFocus(container: HTMLElement | null, openId: string | null): void {
  const previousId = useRef(openId)
  useEffect(() => {
    const closedId = previousId.current
    previousId.current = openId
    const { activeElement } = document
    if (closedId === null || openId !== null || container === null) return
    if (activeElement !== document.body && !container.contains(activeElement)) return
    const row = container.querySelector<HTMLElement>(`[role="row"][data-key="${CSS.escape(closedId)}"]`)
    row?.focus({ preventScroll: true })
  }, [container, openId])
}

type HeadProps<Item> = { column: DataColumn<Item>; edge: 'first' | 'last' | undefined }

function Head<Item>({ column, edge }: HeadProps<Item>): ReactNode {
  const {
    id,
    title,
    sortField,
    align,
    width = '1fr',
    minWidth = defaultMinWidth,
    isRowHeader = false,
  } = column
  return (
    <Column
      id={sortField ?? id}
      className="table-head"
      data-align={align}
      data-edge={edge}
      isRowHeader={isRowHeader}
      allowsSorting={sortField !== undefined}
      defaultWidth={width}
      minWidth={minWidth}
    >
      {({ sortDirection }) =>
        id === checkColumn.id ? (
          <div className="table-head-content table-head-check">
            <RowCheck />
          </div>
        ) : (
          <div className="table-head-content">
            <Group role="presentation" tabIndex={-1} className="table-head-title">
              <span className="truncate">{title}</span>
              {sortDirection !== undefined && (
                <Icon name={sortDirection === 'ascending' ? 'chevronUp' : 'chevronDown'} size={12} />
              )}
            </Group>
            {edge !== 'last' && <ColumnResizer className="table-resizer" />}
          </div>
        )
      }
    </Column>
  )
}

/** A value above a secondary value, such as a name above its slug. */
export const TwoLines = ({ first, second }: { first: ReactNode; second: ReactNode }): ReactNode => (
  <div className="two-lines">
    <div className="truncate two-lines-first">{first}</div>
    <div className="truncate two-lines-second">{second}</div>
  </div>
)
