// The pilets of a project: their versions, and what a tenant loads.
import './pilets.css'
import { type ReactNode, useState } from 'react'
import { LeaveGuard } from '../../app/leave-guard.tsx'
import { useListSearch } from '../../app/list-search.ts'
import { useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { FeedPage } from './feed-page.tsx'
import { UploadDialog } from './upload-dialog.tsx'
import { measureProgress } from './upload-list.ts'
import { useFileDrop } from './use-file-drop.ts'
import { type Uploads, useUploads } from './use-uploads.ts'
import { VersionsPage } from './versions-page.tsx'

const views = ['versions', 'feed'] as const

export function PiletsPage(): ReactNode {
  const t = useText()
  const canUpload = useMay('pilets.upload')
  const uploads = useUploads()
  const [isOpen, setOpen] = useState(false)
  const list = useListSearch()
  const view = views.find((id) => id === list.search['view']) ?? 'versions'
  const isDropping = useFileDrop(canUpload, (files) => {
    uploads.add(files)
    setOpen(true)
  })
  const upload = canUpload && <UploadButton uploads={uploads} onPress={() => setOpen(true)} />
  const choice = (
    <Segments
      label={t('section.pilets')}
      items={views.map((id) => ({ id, text: t(`pilets.view.${id}`) }))}
      selected={view}
      onSelect={(id) =>
        list.setOpen(null, {
          view: id === 'versions' ? undefined : id,
          q: undefined,
          status: undefined,
          sort: undefined,
          page: undefined,
        })
      }
    />
  )
  return (
    <>
      {view === 'feed' ? (
        <FeedPage choice={choice} actions={upload} />
      ) : (
        <VersionsPage choice={choice} upload={upload} />
      )}
      {isOpen && (
        <UploadDialog
          uploads={uploads}
          onClose={() => setOpen(false)}
          onOpenVersion={(id) => {
            setOpen(false)
            list.setOpen(id, { view: undefined })
          }}
        />
      )}
      {isDropping && (
        <div className="pilets-drop" aria-hidden="true">
          {t('pilets.drop')}
        </div>
      )}
      <LeaveGuard isDirty={uploads.isActive} title={t('pilets.leaveTitle')} hint={t('pilets.leaveHint')} />
    </>
  )
}

/** Uploads continue while their dialog is closed, so the button shows their progress. */
function UploadButton({ uploads, onPress }: { uploads: Uploads; onPress: () => void }): ReactNode {
  const t = useText()
  const { percent } = useFormat()
  const ratio = Math.floor(measureProgress(uploads.items) * 100) / 100
  return (
    <Button variant="primary" icon="upload" action="pilets.upload" onPress={onPress}>
      {uploads.isActive ? t('pilets.uploadingShort', percent(ratio)) : t('pilets.upload')}
    </Button>
  )
}
