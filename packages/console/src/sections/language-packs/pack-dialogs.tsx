// The dialogs that the buttons of the page open.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import type { Change } from './edits.ts'
import { ImportDialog } from './import-dialog.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { PackDialog } from './pack-dialog.tsx'
import type { Pack } from './pack-types.ts'
import type { Row } from './rows.ts'

export type OpenDialog = 'pack' | 'key' | 'import'

type PackDialogsProps = {
  dialog: OpenDialog | null
  packs: readonly Pack[]
  rows: readonly Row[]
  list: ListSearch
  onClose: () => void
  onChange: (changes: readonly Change[]) => void
  onAddKey: (key: string) => void
}

export function PackDialogs({ dialog, packs, rows, list, ...props }: PackDialogsProps): ReactNode {
  const { onClose, onChange, onAddKey } = props
  switch (dialog) {
    case 'pack':
      return (
        <PackDialog
          onClose={onClose}
          onCreated={(id) => {
            onClose()
            list.setOpen(id)
          }}
        />
      )
    case 'key':
      return (
        <KeyDialog
          keys={rows}
          onClose={onClose}
          onAdd={(key) => {
            onAddKey(key)
            list.setFilter({ q: undefined, show: undefined })
            onClose()
          }}
        />
      )
    case 'import':
      return (
        <ImportDialog
          packs={packs}
          onClose={onClose}
          onImport={(changes) => {
            onChange(changes)
            list.setFilter({ q: undefined, show: 'edited' })
            onClose()
          }}
        />
      )
    case null:
      return null
  }
}
