// The export of the entries. Administrators download the signed trail from the API; others save the rows of the list.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { ExportButton } from '../../app/export-button.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useNow } from '../../app/now.ts'
import { useProject } from '../../app/project.tsx'
import { useDownload } from '../../app/use-download.ts'
import { auditExportDocument, shellMeDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type AuditQuery, toAuditQuery } from './audit-query.ts'
import { formatRange } from '../../app/range-filter.tsx'
import { readTimeRange } from '../../app/time-range.ts'

type ExportProps = { list: ListSearch; query: AuditQuery }

export function AuditExport({ list, query }: ExportProps): ReactNode {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  const canExport = may(useRead(shellMeDocument, {}).data?.me, 'audit.export')
  if (!canExport) return <ListExport query={query} />
  return (
    <>
      <Button icon="download" action="audit.export" onPress={() => setOpen(true)}>
        {t('audit.export')}
      </Button>
      {isOpen && <TrailDialog list={list} onClose={() => setOpen(false)} />}
    </>
  )
}

function ListExport({ query }: { query: AuditQuery }): ReactNode {
  const { id, slug } = useProject()
  return (
    <ExportButton
      fileName={`${slug}-audit.csv`}
      read={{
        document: auditExportDocument,
        variables: { project: id, ...query },
        select: (result) => result.auditLogsConnection,
      }}
      heads={[
        'seq',
        'created_at',
        'principal_type',
        'principal',
        'user',
        'entity_type',
        'entity_id',
        'action',
        'description',
        'changes',
        'metadata',
        'ip_address',
        'user_agent',
        'hash',
      ]}
      toCells={(row) => [
        row.seq,
        row.createdAt,
        row.principalType ?? '',
        row.principal ?? '',
        row.user?.externalUsername ?? '',
        row.entityType,
        row.entityID,
        row.action,
        row.description,
        row.changes,
        row.metadata,
        row.ipAddress,
        row.userAgent,
        row.hash,
      ]}
    />
  )
}

type Format = 'ndjson' | 'csv'

/** Returns the address of the export. The export cannot filter by text in the description. */
function createAddress(
  project: string,
  search: ListSearch['search'],
  query: AuditQuery,
  format: Format,
): string {
  const values = {
    format,
    project_id: project,
    from: query.from,
    to: query.to,
    entity_type: search['entity'],
    entity_id: query.entityId,
    action: search['action'],
    user_id: query.userId,
  }
  const set = Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] !== null && entry[1] !== undefined,
  )
  return `/api/audit/export?${new URLSearchParams(set).toString()}`
}

type DownloadProps = { address: string; name: string; onDone: () => void }

function DownloadButton({ address, name, onDone }: DownloadProps): ReactNode {
  const t = useText()
  const { isPending, run } = useDownload()
  return (
    <Button variant="primary" isPending={isPending} onPress={() => run(address, name, onDone)}>
      {t('audit.download')}
    </Button>
  )
}

function TrailDialog({ list, onClose }: { list: ListSearch; onClose: () => void }): ReactNode {
  const t = useText()
  const texts = useFormat()
  const now = useNow()
  const { id, name } = useProject()
  const [format, setFormat] = useState<Format>('ndjson')
  const query = toAuditQuery(list.search, now)
  const { q, person, entity, action } = list.search
  const isNarrowed = [person, entity, action, query.entityId ?? undefined].some(
    (value) => value !== undefined,
  )
  const losesText = q !== undefined && query.entityId !== q
  return (
    <Dialog
      title={t('audit.exportTitle', name)}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>{t('kit.cancel')}</Button>
          <DownloadButton
            address={createAddress(id, list.search, query, format)}
            name={`audit-export.${format}`}
            onDone={onClose}
          />
        </>
      }
    >
      <p>
        {t('audit.exportRange')} <strong>{formatRange(readTimeRange(list.search, now), t, texts)}</strong>
        {isNarrowed && ` · ${t('audit.exportFiltered')}`}
      </p>
      <Segments
        label={t('audit.format')}
        items={[
          { id: 'ndjson', text: t('audit.format.ndjson') },
          { id: 'csv', text: t('audit.format.csv') },
        ]}
        selected={format}
        onSelect={(next) => setFormat(next as Format)}
      />
      <p className="secondary">{t(`audit.formatHint.${format}`)}</p>
      {losesText && <Note tone="warn">{t('audit.exportLosesText')}</Note>}
      <p className="secondary">{t('audit.exportRecorded')}</p>
    </Dialog>
  )
}
