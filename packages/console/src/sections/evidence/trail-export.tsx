// Exports the audit trail of the whole installation, with progress.
import { type ReactNode, useState } from 'react'
import { useSystemMay } from '../../app/use-system-may.ts'
import { useNow } from '../../app/now.ts'
import { useDownload } from '../../app/use-download.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { TextField } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { ProgressBar } from '../../kit/progress-bar.tsx'
import { FailureNote } from '../../kit/state.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { readTimeRange } from '../../app/time-range.ts'
import { type TrailFormat, createTrailRequest } from './trail-request.ts'
import { type TrailDownload, useTrailDownload } from './use-trail-download.ts'

export function TrailExport(): ReactNode {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  if (!useSystemMay('audit.export')) return null
  return (
    <>
      <Button icon="download" action="audit.export" onPress={() => setOpen(true)}>
        {t('evidence.exportTrail')}
      </Button>
      {isOpen && <TrailExportDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function TrailExportDialog({ onClose }: { onClose: () => void }): ReactNode {
  const t = useText()
  const [format, setFormat] = useState<TrailFormat>('ndjson')
  const [days, setDays] = useState({ from: '', to: '' })
  const trail = useTrailDownload()
  const { download, start, stop } = trail
  const isRunning = download.state === 'running'
  const range = readTimeRange(days, useNow())
  const isReversed = range.from !== null && range.to !== null && range.from >= range.to
  const request = createTrailRequest(format, range)
  const close = (): void => {
    stop()
    onClose()
  }
  return (
    <Dialog
      title={t('evidence.exportTitle')}
      isOpen
      isDismissable={!isRunning}
      onClose={close}
      foot={
        <>
          <Button onPress={isRunning ? stop : close}>
            {download.state === 'done' ? t('kit.close') : t('kit.cancel')}
          </Button>
          <Button
            variant="primary"
            isPending={isRunning}
            disabledReason={isReversed ? t('app.reversedDays') : null}
            onPress={() => start(request)}
          >
            {t('audit.download')}
          </Button>
        </>
      }
    >
      <Segments
        label={t('audit.format')}
        items={[
          { id: 'ndjson', text: t('audit.format.ndjson') },
          { id: 'csv', text: t('audit.format.csv') },
        ]}
        selected={format}
        onSelect={(next) => setFormat(next as TrailFormat)}
      />
      <p className="secondary">{t(`audit.formatHint.${format}`)}</p>
      <div className="evidence-days">
        <TextField
          label={t('app.fromDay')}
          type="date"
          value={days.from}
          onChange={(from) => setDays({ ...days, from })}
        />
        <TextField
          label={t('app.toDay')}
          type="date"
          value={days.to}
          onChange={(to) => setDays({ ...days, to })}
        />
      </div>
      <p className="secondary">{t('evidence.exportHint')}</p>
      <DownloadState download={download} request={request} onRetry={() => start(request)} />
    </Dialog>
  )
}

type DownloadStateProps = {
  download: TrailDownload
  request: ReturnType<typeof createTrailRequest>
  onRetry: () => void
}

function DownloadState({ download, request, onRetry }: DownloadStateProps): ReactNode {
  const t = useText()
  const { number, bytes } = useFormat()
  const direct = useDownload()
  if (download.state === 'failed') return <FailureNote failure={download.failure} onRetry={onRetry} />
  if (download.state === 'incomplete') return <Note tone="danger">{t('evidence.exportIncomplete')}</Note>
  if (download.state === 'tooLarge')
    return (
      <Note
        tone="warn"
        actions={
          <Button
            size="small"
            isPending={direct.isPending}
            onPress={() => direct.run(request.path, request.fileName)}
          >
            {t('audit.download')}
          </Button>
        }
      >
        {t('evidence.exportTooLarge')}
      </Note>
    )
  if (download.state === 'running')
    return (
      <ProgressBar
        label={t('evidence.exporting', number(download.rows), bytes(download.bytes))}
        value={0}
        max={null}
      />
    )
  if (download.state !== 'done') return null
  return (
    <div role="status">
      <Note tone="ok">
        <strong>{t('evidence.exported', download.rows)}</strong>{' '}
        {download.isSigned ? t('evidence.exportSigned', bytes(download.bytes)) : bytes(download.bytes)}
      </Note>
    </div>
  )
}
