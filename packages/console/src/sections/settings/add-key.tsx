// Adds a row for a key that no layer has yet. The row is saved with its first value.
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { useText } from '../../texts/language.tsx'
import { focusCell } from './focus-cell.ts'
import { type Part, createField, layerNames, toCellId } from './layers.ts'

export function AddKey({ part, onAdd }: { part: Part; onAdd: (key: string) => void }): ReactNode {
  const t = useText()
  const canChange = useMay('settings.change')
  const [text, setText] = useState<string | null>(null)
  const { place, leave } = useFocusAfterKey(part, text)
  const end = (): void => {
    const key = text?.trim() ?? ''
    if (key !== '') onAdd(key)
    setText(null)
  }
  const act = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      // Otherwise, the same key press would also activate the cell that gets the focus.
      event.preventDefault()
      leave(text?.trim() ?? '')
      end()
    } else if (event.key === 'Escape') {
      leave('')
      setText(null)
    }
  }
  if (!canChange) return null
  return (
    <span className="settings-add" ref={place}>
      {text === null ? (
        <Button size="small" variant="quiet" icon="add" action="settings.change" onPress={() => setText('')}>
          {t('settings.addKey')}
        </Button>
      ) : (
        <input
          className="input settings-new-key"
          data-mono=""
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the person has asked for the field
          autoFocus
          aria-label={t('settings.newKey', t(`settings.part.${part}`))}
          placeholder={t('settings.newKeyHint')}
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={act}
          onBlur={end}
        />
      )}
    </span>
  )
}

/** After Enter, the focus moves to the first cell of the new row; after Escape, it moves to the button. */
function useFocusAfterKey(part: Part, text: string | null) {
  const place = useRef<HTMLSpanElement>(null)
  const left = useRef<string | null>(null)
  useEffect(() => {
    if (text !== null || left.current === null) return
    const key = left.current
    left.current = null
    const isThere = key !== '' && focusCell(toCellId(layerNames[0], createField(part, key)))
    if (!isThere) place.current?.querySelector('button')?.focus()
  }, [part, text])
  return {
    place,
    leave: (key: string): void => {
      left.current = key
    },
  }
}
