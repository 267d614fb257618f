// One value of a layer: shown with its role in the merge, and edited in place.
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { IconButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { useText } from '../../texts/language.tsx'
import { type Field, type LayerName, isSecretKey } from './layers.ts'

const dots = '••••••••'

/** A value as text: a dash if it is not set, dots if it is a hidden secret. */
export function ValueText({ value, isHidden }: { value: string | null; isHidden: boolean }): ReactNode {
  const t = useText()
  if (value === null)
    return (
      <span className="muted" aria-label={t('app.notSet')}>
        –
      </span>
    )
  if (isHidden) return <span aria-label={t('app.hiddenSecret')}>{dots}</span>
  return (
    <span className="truncate" title={value}>
      {value === '' ? t('app.emptyText') : value}
    </span>
  )
}

/** The role of a cell in the merge. */
type CellState = 'winner' | 'overridden' | 'unset' | 'absent'
export type CellProps = {
  cellId: string
  layer: LayerName
  field: Field
  value: string | null
  saved: string | null
  state: CellState
  isEdited: boolean
  isRevealed: boolean
  /** Hides the text of overridden values. */
  hidesOverridden: boolean
  /** Why the value cannot be changed; null if it can. */
  lockedReason: string | null
  isEditing: boolean
  onStart: () => void
  onEdit: (value: string | null) => void
  onUndo: () => void
  onEnd: () => void
}

export function ValueCell(props: CellProps): ReactNode {
  return props.isEditing ? <Editor {...props} /> : <Shown {...props} />
}

function Shown({ cellId, layer, field, value, saved, state, ...props }: CellProps): ReactNode {
  const { isEdited, isRevealed, hidesOverridden, lockedReason, onStart, onUndo } = props
  const t = useText()
  const button = useRef<HTMLButtonElement>(null)
  const undo = (): void => {
    // The undo button disappears with the edit.
    button.current?.focus()
    onUndo()
  }
  const isHidden = isSecretKey(field.key) && !isRevealed
  const label = t('settings.cell', field.key, t(`settings.layer.${layer}`))
  const text =
    state === 'overridden' && hidesOverridden ? (
      <span className="muted">{t('settings.overridden')}</span>
    ) : (
      state !== 'absent' && <ValueText value={value} isHidden={isHidden} />
    )
  return (
    <div className="value" data-state={state} data-edited={isEdited ? '' : undefined}>
      <button
        ref={button}
        type="button"
        className="value-button"
        data-cell={cellId}
        data-action="settings.change"
        aria-label={label}
        aria-describedby={`${cellId}-text`}
        aria-disabled={lockedReason !== null || undefined}
        title={lockedReason ?? undefined}
        onClick={() => {
          if (lockedReason === null) onStart()
        }}
      />
      {state === 'winner' && <Icon name="check" size={12} />}
      <span className="value-lines" id={`${cellId}-text`}>
        <span className="value-text">{text}</span>
        {isEdited && (
          <span className="value-was">
            {t('settings.was')} <ValueText value={saved} isHidden={isHidden} />
          </span>
        )}
      </span>
      {isEdited && <IconButton icon="undo" size="small" label={t('settings.undo', label)} onPress={undo} />}
    </div>
  )
}

function Editor({ cellId, layer, field, value, isRevealed, onEdit, onEnd }: CellProps): ReactNode {
  const t = useText()
  const isHidden = isSecretKey(field.key) && !isRevealed
  // A hidden secret is replaced, not shown: the editor starts empty, and saving an empty text changes nothing.
  const initial = isHidden ? '' : (value ?? '')
  const [text, setText] = useState(initial)
  const isDone = useRef(false)
  const end = (change: (() => void) | null): void => {
    if (isDone.current) return
    isDone.current = true
    change?.()
    onEnd()
  }
  const commit = (): void => {
    const isUnchanged = text === initial && (isHidden || value !== null || text === '')
    end(isUnchanged ? null : () => onEdit(text))
  }
  const act = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      commit()
    } else if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      end(null)
    }
  }
  return (
    <div className="value-editor">
      <textarea
        className="value-input"
        data-cell={cellId}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the person has asked for the editor
        autoFocus
        rows={Math.min(6, text.split('\n').length)}
        aria-label={t('settings.cell', field.key, t(`settings.layer.${layer}`))}
        placeholder={isHidden ? t('settings.newSecret') : field.kind === 'list' ? t('settings.listHint') : ''}
        value={text}
        spellCheck={false}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={act}
        onBlur={commit}
      />
      {value !== null && (
        <button
          type="button"
          className="value-unset"
          title={t('settings.unset')}
          aria-label={t('settings.unset')}
          // Pressing the button must not move the focus, because the editor accepts its text when it loses the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => end(() => onEdit(null))}
        >
          <Icon name="delete" size={12} />
        </button>
      )}
      {field.kind === 'pair' && value === null && !isHidden && (
        <button
          type="button"
          className="value-unset"
          title={t('settings.setEmpty')}
          aria-label={t('settings.setEmpty')}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => end(() => onEdit(''))}
        >
          <span aria-hidden="true">“”</span>
        </button>
      )}
    </div>
  )
}
