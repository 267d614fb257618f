// The settings on a narrow screen. Each key shows its effective value and expands to its layers, the most specific one
// first.
import { type ReactNode, useState } from 'react'
import { Icon } from '../../kit/icon.tsx'
import { useText } from '../../texts/language.tsx'
import { AddKey } from './add-key.tsx'
import { type Row, isSecretKey, layerNames } from './layers.ts'
import {
  type CellControl,
  KeyName,
  LayerAuditLink,
  type SettingsViewProps,
  toCellProps,
} from './settings-table.tsx'
import { ValueCell, ValueText } from './value.tsx'

export function SettingsList(props: SettingsViewProps & { cells: CellControl }): ReactNode {
  const t = useText()
  const [openId, setOpenId] = useState<string | null>(null)
  return (
    <div className="settings-list">
      {props.parts.map(({ part, rows }) => (
        <section key={part}>
          <h2 className="settings-group-head">
            <span>{t(`settings.part.${part}`)}</span>
            <AddKey part={part} onAdd={(key) => props.onAddKey(part, key)} />
          </h2>
          {rows.map((row) => (
            <Item
              key={row.field.id}
              row={row}
              view={props}
              cells={props.cells}
              isOpen={openId === row.field.id}
              onToggle={() => setOpenId(openId === row.field.id ? null : row.field.id)}
            />
          ))}
        </section>
      ))}
    </div>
  )
}

type ItemProps = {
  row: Row
  view: SettingsViewProps
  cells: CellControl
  isOpen: boolean
  onToggle: () => void
}

function Item({ row, view, cells, isOpen, onToggle }: ItemProps): ReactNode {
  const t = useText()
  const { field, winner, effective } = row
  const isHidden = isSecretKey(field.key) && !cells.revealed.has(field.id)
  return (
    <div className="settings-item">
      <button type="button" className="settings-item-head" aria-expanded={isOpen} onClick={onToggle}>
        <span className="settings-item-lines">
          <code className="truncate">{field.key}</code>
          <span className="settings-item-value">
            <ValueText value={effective} isHidden={isHidden} />
          </span>
        </span>
        <span className="settings-item-source">
          {winner === null ? t('settings.noLayer') : t(`settings.layer.${winner}`)}
        </span>
        <Icon name={isOpen ? 'chevronUp' : 'chevronDown'} />
      </button>
      {isOpen && (
        <div className="settings-item-layers">
          {isSecretKey(field.key) && <KeyName row={row} cells={cells} />}
          {layerNames.toReversed().map((layer) => {
            const cell = toCellProps(view, cells, row, layer)
            const { settingsId } = view.heads[layer]
            return (
              <div key={layer} className="settings-item-layer" data-state={cell.state}>
                <span className="settings-item-name">
                  {t(`settings.layer.${layer}`)}
                  {settingsId !== null && (
                    <LayerAuditLink layer={t(`settings.layer.${layer}`)} settingsId={settingsId} />
                  )}
                </span>
                <ValueCell {...cell} />
              </div>
            )
          })}
        </div>
      )}
    </div>
  )
}
