// Uploads files that a person chooses or drags onto the page. Uploads continue while the dialog is closed.
import { type ReactNode, useRef } from 'react'
import { useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Switch } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { isReady, maxFiles } from './upload-list.ts'
import { UploadRow } from './upload-row.tsx'
import type { Uploads } from './use-uploads.ts'

type UploadDialogProps = {
  uploads: Uploads
  onClose: () => void
  onOpenVersion: (id: string) => void
}

export function UploadDialog({ uploads, onClose, onOpenVersion }: UploadDialogProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const canEnable = useMay('pilets.enable')
  const { items, isEnabling, setEnabling, start } = uploads
  const ready = items.filter(isReady).length
  return (
    <Dialog
      title={t('pilets.uploadTitle')}
      width={640}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('kit.close')}</Button>
          <Button
            variant="primary"
            icon="upload"
            disabledReason={ready === 0 ? t('pilets.chooseFirst') : null}
            onPress={start}
          >
            {ready === 0 ? t('pilets.upload') : t('pilets.uploadCount', ready)}
          </Button>
        </>
      }
    >
      <FileChoice onFiles={uploads.add} />
      {items.length > 0 && (
        <ul className="uploads" aria-label={t('pilets.files')}>
          {items.map((upload) => (
            <UploadRow key={upload.id} upload={upload} uploads={uploads} onOpenVersion={onOpenVersion} />
          ))}
        </ul>
      )}
      {items.length >= maxFiles && <Note tone="info">{t('pilets.listFull', number(maxFiles))}</Note>}
      {canEnable ? (
        <Switch label={t('pilets.enableNow')} isSelected={isEnabling} onChange={setEnabling} />
      ) : (
        <Note tone="info">{t('pilets.storedDisabled')}</Note>
      )}
      {uploads.isActive && <p className="secondary">{t('pilets.closeHint')}</p>}
    </Dialog>
  )
}

/** The place for dragged files, with a button that opens the file chooser of the browser. */
function FileChoice({ onFiles }: { onFiles: (files: readonly File[]) => void }): ReactNode {
  const t = useText()
  const input = useRef<HTMLInputElement>(null)
  return (
    <div className="pilets-zone">
      <p>{t('pilets.dragHint')}</p>
      <Button hasAutoFocus onPress={() => input.current?.click()}>
        {t('pilets.chooseFiles')}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('pilets.chooseFiles')}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])])
          // The browser reports a repeated choice of the same file only if the value is cleared.
          currentTarget.value = ''
        }}
      />
      <p className="hint">{t('pilets.formatHint')}</p>
    </div>
  )
}
