// Adds a row for a new key. The key is saved with its first translation.
import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../app/form-dialog.tsx'
import { TextField } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import { findKeyProblem } from './keys.ts'
import type { Row } from './rows.ts'

type KeyDialogProps = { keys: readonly Row[]; onClose: () => void; onAdd: (key: string) => void }

export function KeyDialog({ keys, onClose, onAdd }: KeyDialogProps): ReactNode {
  const t = useText()
  const [text, setText] = useState('')
  const key = text.trim()
  const problem = findKeyProblem(key)
  const isKnown = keys.some((row) => row.key === key)
  return (
    <FormDialog
      title={t('languagePacks.newKey')}
      submitText={t('languagePacks.addKey')}
      disabledReason={isKnown ? t('languagePacks.keyExists') : problem === null ? null : t(problem)}
      isDirty={text !== ''}
      isPending={false}
      failure={null}
      onSubmit={() => onAdd(key)}
      onClose={onClose}
    >
      <TextField
        label={t('languagePacks.keyColumn')}
        hint={t('languagePacks.keyHint')}
        isRequired
        isMono
        value={text}
        onChange={setText}
        hasAutoFocus
      />
    </FormDialog>
  )
}
