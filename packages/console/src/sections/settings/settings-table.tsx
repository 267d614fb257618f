// All layers side by side. Columns are ordered from the most general layer to the most specific one.
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { AuditLink } from '../../app/audit-link.tsx'
import { IconButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { useText } from '../../texts/language.tsx'
import { AddKey } from './add-key.tsx'
import { focusCell } from './focus-cell.ts'
import {
  type Effective,
  type LayerName,
  type Part,
  type Row,
  isSecretKey,
  layerNames,
  toCellId,
} from './layers.ts'
import { type CellProps, ValueCell, ValueText } from './value.tsx'

export type LayerHead = {
  readonly name: LayerName
  /** The object to which the layer belongs, such as the name of the tenant. */
  readonly subtitle: string
  /** Why the values of the layer cannot be changed; null if they can. */
  readonly lockedReason: string | null
  /** False if the layer has no object yet, because the person has not chosen one. */
  readonly isChosen: boolean
  /** Null if the layer has no settings yet. */
  readonly settingsId: string | null
}
export type Comparison = {
  readonly name: string
  readonly note: string
  /** False if the application does not exist in the other tenant, or if the values cannot be read. */
  readonly hasValues: boolean
  readonly values: Effective | undefined
}

export type SettingsViewProps = {
  heads: Readonly<Record<LayerName, LayerHead>>
  parts: readonly { readonly part: Part; readonly rows: readonly Row[] }[]
  comparison: Comparison | null
  hidesOverridden: boolean
  isEdited: (layer: LayerName, row: Row) => boolean
  onEdit: (layer: LayerName, row: Row, value: string | null) => void
  onUndo: (layer: LayerName, row: Row) => void
  onAddKey: (part: Part, key: string) => void
}

export type CellControl = {
  readonly editing: string | null
  readonly revealed: ReadonlySet<string>
  readonly start: (cellId: string) => void
  readonly end: (cellId: string) => void
  readonly toggleSecret: (rowId: string) => void
}

/** The cell that is being edited, and the secrets that are shown. After an edit, the focus returns to the cell. */
export function useCells(): CellControl {
  const [editing, setEditing] = useState<string | null>(null)
  const [revealed, setRevealed] = useState<ReadonlySet<string>>(new Set())
  const returnTo = useRef<string | null>(null)
  useEffect(() => {
    if (editing !== null || returnTo.current === null) return
    // If the person has clicked elsewhere, the focus stays there.
    if (document.activeElement === document.body) focusCell(returnTo.current)
    returnTo.current = null
  }, [editing])
  return {
    editing,
    revealed,
    start: setEditing,
    end: (cellId) => {
      returnTo.current = cellId
      setEditing(null)
    },
    toggleSecret: (rowId) => {
      const next = new Set(revealed)
      if (!next.delete(rowId)) next.add(rowId)
      setRevealed(next)
    },
  }
}

/** Returns the properties of a cell that do not depend on the layout. */
export function toCellProps(
  { heads, hidesOverridden, isEdited, onEdit, onUndo }: SettingsViewProps,
  cells: CellControl,
  row: Row,
  layer: LayerName,
): CellProps {
  const cellId = toCellId(layer, row.field)
  const value = row.values[layer]
  const setState = row.winner === layer ? 'winner' : 'overridden'
  return {
    cellId,
    layer,
    field: row.field,
    value,
    saved: row.saved[layer],
    state: value === null ? (heads[layer].isChosen ? 'unset' : 'absent') : setState,
    isEdited: isEdited(layer, row),
    isRevealed: cells.revealed.has(row.field.id),
    hidesOverridden,
    lockedReason: heads[layer].lockedReason,
    isEditing: cells.editing === cellId,
    onStart: () => cells.start(cellId),
    onEdit: (next) => onEdit(layer, row, next),
    onUndo: () => onUndo(layer, row),
    onEnd: () => cells.end(cellId),
  }
}

/** The arrow keys move between cells. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
  if (step === undefined || !(event.target instanceof HTMLButtonElement)) return
  const cell = event.target.closest('td')
  const rows = [...event.currentTarget.querySelectorAll('tr[data-row]')]
  if (cell === null || cell.parentElement === null) return
  const [down = 0, right = 0] = step
  const row = rows[rows.indexOf(cell.parentElement) + down]
  const next = row?.children[cell.cellIndex + right]?.querySelector<HTMLElement>('[data-cell]')
  if (next === null || next === undefined) return
  event.preventDefault()
  next.focus()
}

export function SettingsTable(props: SettingsViewProps & { cells: CellControl }): ReactNode {
  const { heads, parts, comparison, onAddKey, cells } = props
  const t = useText()
  const columns = layerNames.length + (comparison === null ? 2 : 3)
  return (
    <div className="settings-scroll">
      <table className="settings-table" data-compared={comparison === null ? undefined : ''}>
        <thead>
          <tr>
            <th className="settings-key-column">{t('settings.key')}</th>
            {layerNames.map((name) => (
              <Head
                key={name}
                title={t(`settings.layer.${name}`)}
                subtitle={heads[name].subtitle}
                settingsId={heads[name].settingsId}
              />
            ))}
            <Head
              title={t('settings.effective')}
              subtitle={
                heads.tenant2application.isChosen
                  ? t('settings.effectiveHint', heads.application.subtitle)
                  : t('settings.effectiveSoFar')
              }
              isResult
            />
            {comparison !== null && <Head title={comparison.name} subtitle={comparison.note} isResult />}
          </tr>
        </thead>
        {parts.map(({ part, rows }) => (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- moves the focus between the buttons in it
          <tbody key={part} onKeyDown={moveFocus}>
            <tr className="settings-group">
              <th colSpan={columns} scope="rowgroup">
                <div className="settings-group-head">
                  <span>{t(`settings.part.${part}`)}</span>
                  <span className="settings-group-note">{t(`settings.partHint.${part}`)}</span>
                  <AddKey part={part} onAdd={(key) => onAddKey(part, key)} />
                </div>
              </th>
            </tr>
            {rows.map((row) => (
              <SettingsRow key={row.field.id} row={row} view={props} cells={cells} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

type HeadProps = { title: string; subtitle: string; settingsId?: string | null; isResult?: boolean }

const Head = ({ title, subtitle, settingsId = null, isResult = false }: HeadProps): ReactNode => (
  <th data-result={isResult ? '' : undefined}>
    <div className="settings-head-title">
      <span className="truncate">{title}</span>
      {settingsId !== null && <LayerAuditLink layer={title} settingsId={settingsId} />}
    </div>
    <div className="truncate settings-head-note" title={subtitle}>
      {subtitle}
    </div>
  </th>
)

/** Links to the audit entries about changes to a layer. */
export function LayerAuditLink({ layer, settingsId }: { layer: string; settingsId: string }): ReactNode {
  const t = useText()
  return <AuditLink entity="settings" id={settingsId} label={t('settings.whoChanged', layer)} />
}

type RowProps = { row: Row; view: SettingsViewProps; cells: CellControl }

function SettingsRow({ row, view, cells }: RowProps): ReactNode {
  const { field } = row
  return (
    <tr data-row="">
      <th scope="row" className="settings-key">
        <KeyName row={row} cells={cells} />
      </th>
      {layerNames.map((layer) => {
        const cell = toCellProps(view, cells, row, layer)
        return (
          <td key={layer} data-state={cell.state}>
            <ValueCell {...cell} />
          </td>
        )
      })}
      <td data-result="">
        <EffectiveValue row={row} isRevealed={cells.revealed.has(field.id)} />
      </td>
      {view.comparison !== null && (
        <td data-result="">
          <ComparedValue row={row} comparison={view.comparison} isRevealed={cells.revealed.has(field.id)} />
        </td>
      )}
    </tr>
  )
}

export function KeyName({ row: { field }, cells }: { row: Row; cells: CellControl }): ReactNode {
  const t = useText()
  const isRevealed = cells.revealed.has(field.id)
  return (
    <span className="settings-key-name">
      <code className="truncate" title={field.key}>
        {field.key}
      </code>
      {isSecretKey(field.key) && (
        <IconButton
          icon="eye"
          size="small"
          label={t(isRevealed ? 'settings.hide' : 'settings.reveal', field.key)}
          onPress={() => cells.toggleSecret(field.id)}
        />
      )}
    </span>
  )
}

function EffectiveValue({ row, isRevealed }: { row: Row; isRevealed: boolean }): ReactNode {
  const t = useText()
  const { field, winner, effective, savedEffective } = row
  const isHidden = isSecretKey(field.key) && !isRevealed
  return (
    <div className="effective">
      <span className="effective-value">
        <ValueText value={effective} isHidden={isHidden} />
      </span>
      <span className="effective-source">
        <span className="truncate">
          {winner === null ? t('settings.noLayer') : t('settings.from', t(`settings.layer.${winner}`))}
        </span>
        {effective !== savedEffective && (
          <>
            {' · '}
            {t('settings.was')} <ValueText value={savedEffective} isHidden={isHidden} />
          </>
        )}
      </span>
    </div>
  )
}

type ComparedProps = { row: Row; comparison: Comparison; isRevealed: boolean }

function ComparedValue({ row, comparison, isRevealed }: ComparedProps): ReactNode {
  const t = useText()
  if (!comparison.hasValues) return null
  if (comparison.values === undefined) return <span className="muted">…</span>
  const other = comparison.values.get(row.field.id)
  const isSame = (other?.value ?? null) === row.effective
  return (
    <div className="effective" data-different={isSame ? undefined : ''}>
      <span className="effective-value">
        {!isSame && <Icon name="warning" size={12} tone="warn" />}
        <ValueText value={other?.value ?? null} isHidden={isSecretKey(row.field.key) && !isRevealed} />
      </span>
      <span className="effective-source">
        {isSame
          ? t('settings.same')
          : t(
              'settings.differs',
              other === undefined ? t('settings.noLayer') : t(`settings.layer.${other.layer}`),
            )}
      </span>
    </div>
  )
}
