// A translation: its stored or edited text, or its editor.
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { Icon } from '../../kit/icon.tsx'
import { CellSkeleton } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'
import type { Edit } from './edits.ts'
import type { CellEditor } from './use-grid-input.ts'

type PackCellProps = {
  id: string
  label: string
  saved: string | null
  edit: Edit | null
  /** False while the pack is loading. */
  isKnown: boolean
  /** Whether another person has changed the stored text since it was edited here. */
  isConflict: boolean
  isActive: boolean
  editor: CellEditor | null
  onPress: () => void
  onEdit: () => void
}

export function PackCell({ id, label, isActive, editor, ...props }: PackCellProps): ReactNode {
  const { saved, edit, isKnown, isConflict, onPress, onEdit } = props
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- the grid handles the keys of its active cell
    <td
      id={id}
      className="pack-cell"
      data-active={isActive ? '' : undefined}
      data-state={isConflict ? 'conflict' : edit !== null ? 'edited' : undefined}
      onClick={editor === null ? onPress : undefined}
      onDoubleClick={editor === null ? onEdit : undefined}
    >
      {editor !== null ? (
        <Editor label={label} editor={editor} />
      ) : isKnown ? (
        <CellText saved={saved} edit={edit} isConflict={isConflict} />
      ) : (
        <CellSkeleton />
      )}
    </td>
  )
}

function CellText({
  saved,
  edit,
  isConflict,
}: Pick<PackCellProps, 'saved' | 'edit' | 'isConflict'>): ReactNode {
  const t = useText()
  const value = edit === null ? saved : edit.value
  return (
    <div className="pack-text">
      {value === null && edit === null && <span className="pack-missing">{t('languagePacks.missing')}</span>}
      {value === null && edit !== null && (
        <del className="truncate" title={saved ?? ''}>
          {saved}
        </del>
      )}
      {value !== null && (
        <div className="truncate" title={value} dir="auto">
          {value === '' ? t('app.emptyText') : value}
        </div>
      )}
      {isConflict && <Icon name="warning" size={12} tone="danger" />}
      {edit !== null && (
        <span className="visually-hidden">
          {isConflict ? t('languagePacks.conflict') : t('languagePacks.edited')}
        </span>
      )}
    </div>
  )
}

const maxLines = 8
const lineCharacters = 28
const countLines = (text: string): number =>
  text.split('\n').reduce((sum, line) => sum + 1 + Math.floor(line.length / lineCharacters), 0)

function Editor({ label, editor }: { label: string; editor: CellEditor }): ReactNode {
  const { text, isReplaced, onChange, onCommit, onCancel } = editor
  const input = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const { length } = input.current?.value ?? ''
    input.current?.focus({ preventScroll: true })
    input.current?.setSelectionRange(isReplaced ? length : 0, length)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only the first text is selected
  }, [])
  const act = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) onCommit('down', true)
    else if (event.key === 'Tab') onCommit(event.shiftKey ? 'left' : 'right', true)
    else if (event.key === 'Escape') onCancel()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <textarea
      ref={input}
      className="pack-input"
      rows={Math.min(maxLines, countLines(text))}
      aria-label={label}
      value={text}
      dir="auto"
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={act}
      onBlur={() => onCommit(null, false)}
    />
  )
}
