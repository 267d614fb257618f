// A file to upload: its name and version, its progress, and what went wrong.
import type { ReactNode } from 'react'
import { Status } from '../../kit/badge.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { TextField } from '../../kit/form.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { UploadMessage } from './upload-message.tsx'
import { type Upload, isActive } from './upload-list.ts'
import type { Uploads } from './use-uploads.ts'

type UploadRowProps = { upload: Upload; uploads: Uploads; onOpenVersion: (id: string) => void }

export function UploadRow({ upload, uploads, onOpenVersion }: UploadRowProps): ReactNode {
  const t = useText()
  const { bytes } = useFormat()
  const { file, isScript, manifest, state } = upload
  return (
    <li className="upload">
      <div className="upload-head">
        <span className="upload-name">
          <span className="truncate" title={file.name}>
            {file.name}
          </span>
          {manifest.name !== '' && !isScript && (
            <span className="truncate muted">
              {manifest.name} <code>{manifest.version}</code>
            </span>
          )}
        </span>
        <span className="numbers muted">{bytes(file.size)}</span>
        <span role="status">
          <UploadStatus upload={upload} />
        </span>
        <UploadButtons upload={upload} uploads={uploads} />
      </div>
      {isScript && state.kind === 'ready' && <ScriptFields upload={upload} uploads={uploads} />}
      {state.kind === 'sending' && (
        <Progress upload={upload} sent={state.sentBytes} total={state.totalBytes} />
      )}
      <UploadMessage
        upload={upload}
        retry={
          <Button size="small" icon="refresh" onPress={() => uploads.retry(upload.id)}>
            {t('kit.retry')}
          </Button>
        }
        onOpenVersion={onOpenVersion}
      />
    </li>
  )
}

function UploadStatus({ upload: { state } }: { upload: Upload }): ReactNode {
  const t = useText()
  switch (state.kind) {
    case 'reading':
      return <Status kind="pending">{t('pilets.state.reading')}</Status>
    case 'ready':
      return <Status kind="off">{t('pilets.state.ready')}</Status>
    case 'waiting':
      return <Status kind="pending">{t('pilets.state.waiting')}</Status>
    case 'sending':
      return (
        <Status kind="pending">
          {state.totalBytes > 0 && state.sentBytes >= state.totalBytes
            ? t('pilets.state.storing')
            : t('pilets.state.sending')}
        </Status>
      )
    case 'cancelled':
      return <Status kind="off">{t('pilets.state.cancelled')}</Status>
    case 'done':
      return (
        <Status kind="ok">{state.isEnabled ? t('pilets.state.enabled') : t('pilets.state.stored')}</Status>
      )
    case 'rejected':
      return <Status kind="danger">{t('pilets.state.rejected')}</Status>
    case 'failed':
      return <Status kind="danger">{t('pilets.state.failed')}</Status>
  }
}

function UploadButtons({ upload, uploads }: Pick<UploadRowProps, 'upload' | 'uploads'>): ReactNode {
  const t = useText()
  const { id, file } = upload
  // One button in both states, so that it keeps the focus when the upload ends.
  const isRunning = isActive(upload)
  return (
    <IconButton
      icon={isRunning ? 'close' : 'delete'}
      size="small"
      label={isRunning ? t('pilets.cancelUpload', file.name) : t('pilets.removeFile', file.name)}
      onPress={() => (isRunning ? uploads.cancel(id) : uploads.remove(id))}
    />
  )
}

type ProgressProps = { upload: Upload; sent: number; total: number }

function Progress({ upload: { file }, sent, total }: ProgressProps): ReactNode {
  const t = useText()
  const { bytes, percent } = useFormat()
  const ratio = total === 0 ? 0 : sent / total
  return (
    <div className="upload-progress">
      <progress max={1} value={ratio} aria-label={t('pilets.progressOf', file.name)} />
      <span className="numbers muted">
        {t('pilets.progress', percent(Math.floor(ratio * 100) / 100), bytes(sent), bytes(total))}
      </span>
    </div>
  )
}

/** A script has no package.json, so the person enters its name and version. */
function ScriptFields({ upload, uploads }: Pick<UploadRowProps, 'upload' | 'uploads'>): ReactNode {
  const t = useText()
  const { id, manifest } = upload
  return (
    <div className="upload-fields">
      <TextField
        label={t('pilets.name')}
        placeholder="@shop/cart"
        value={manifest.name}
        onChange={(name) => uploads.edit(id, { ...manifest, name })}
        isMono
        isRequired
      />
      <TextField
        label={t('pilets.version')}
        placeholder="1.0.0"
        value={manifest.version}
        onChange={(version) => uploads.edit(id, { ...manifest, version })}
        isMono
        isRequired
      />
    </div>
  )
}
